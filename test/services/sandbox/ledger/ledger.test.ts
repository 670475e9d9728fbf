import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { v7 as uuidv7 } from 'uuid';
import { Answer } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Intent, NO_ENDING, NO_INTENT } from '../../../../services/sandbox/ledger/entry.ts';
import { openLedger } from '../../../../services/sandbox/ledger/ledger.ts';
import { SCHEMA_STEPS } from '../../../../services/sandbox/ledger/schema.ts';
import { openOracle } from '../oracle.ts';

function intent(amount = 100): Intent {
  const who = { merchantId: 'acme', terminalId: 't', userId: 'u', tokenId: 'tok', currency: 'EUR' };
  return { ...NO_INTENT, ...who, requestId: uuidv7(), kind: 'authorization', amount };
}
const APPROVED = { ...NO_ENDING, answer: Answer.APPROVED };

describe('openLedger()', () => {
  let directory: string;
  let file: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'holdfast-ledger-'));
    file = join(directory, 'below', 'ledger.sqlite');
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('creates a file that only its owner can read', () => {
    openLedger(file).close();
    assert.equal(statSync(file).mode & 0o777, 0o600);
  });

  it('commits waiting decisions together, each seeing those before it', async () => {
    const ledger = openLedger(file);
    const one = intent();
    const seen = await Promise.all([
      ledger.commit(({ entries }) => entries.find(one.requestId)),
      ledger.commit(({ entries }) => entries.insert(one, APPROVED)),
      ledger.commit(({ entries }) => entries.find(one.requestId)?.amount),
    ]);
    assert.deepEqual(seen, [undefined, undefined, 100]);
    ledger.close();
  });

  it('rolls back a batch when one decision throws, and continues', async () => {
    const ledger = openLedger(file);
    const [one, two] = [intent(), intent()];
    const batch = await Promise.allSettled([
      ledger.commit(({ entries }) => entries.insert(one, APPROVED)),
      ledger.commit(() => assert.fail('a bug')),
    ]);
    assert.deepEqual(
      batch.map((each) => each.status),
      ['rejected', 'rejected'],
    );
    await ledger.commit(({ entries }) => entries.insert(two, APPROVED));
    ledger.close();
    const oracle = openOracle(file);
    assert.deepEqual(
      oracle.entries().map(({ requestId }) => requestId),
      [two.requestId],
    );
    oracle.close();
  });

  it('commits waiting decisions when it is closed, and accepts none afterwards', async () => {
    const ledger = openLedger(file);
    const one = intent();
    const waiting = ledger.commit(({ entries }) => entries.insert(one, APPROVED));
    ledger.close();
    await waiting;
    await assert.rejects(
      ledger.commit(() => undefined),
      /closed/,
    );
    const oracle = openOracle(file);
    assert.equal(oracle.find(one.requestId)?.amount, 100);
    oracle.close();
  });

  it('constrains the sums of an authorization by itself', async () => {
    const ledger = openLedger(file);
    const one = intent(100);
    await ledger.commit(({ entries }) => entries.insert(one, APPROVED));
    for (const sums of [{ captured: 101 }, { captured: 60, voided: 41 }, { reversed: 1 }, { captured: -1 }]) {
      await assert.rejects(
        ledger.commit(({ entries }) => entries.add(one.requestId, sums)),
        /CHECK constraint/,
      );
    }
    ledger.close();
  });

  it('migrates a file of an earlier version, with its contents', async () => {
    mkdirSync(dirname(file));
    const database = new DatabaseSync(file);
    database.exec(`${SCHEMA_STEPS[0]} PRAGMA user_version = 1`);
    database.exec(`INSERT INTO checkout (requestId, capabilityHash, merchantName, returnUrl, saveCard, expiresAtMs)
      VALUES ('one', x'01', 'Acme', '', 0, 1)`);
    database.close();
    for (const _ of ['first start', 'second start']) {
      const { books, close } = openLedger(file);
      assert.equal(books.checkouts.find('one')?.merchantReference, '');
      assert.equal(books.cardTries.find('one'), undefined);
      close();
    }
  });

  it('computes what a final capture released, which the first version did not store', () => {
    mkdirSync(dirname(file));
    const database = new DatabaseSync(file);
    database.exec(`${SCHEMA_STEPS[0]} ${CLOSED_HOLD} PRAGMA user_version = 1;`);
    database.close();
    openLedger(file).close();
    const oracle = openOracle(file);
    const rows = oracle
      .entries('hold')
      .map(({ requestId, captured, voided, reversed }) => [requestId, captured, voided, reversed]);
    assert.deepEqual(rows, [
      ['hold', 300, 700, 300],
      ['final', 0, 600, 300],
      ['void', 0, 100, 0],
    ]);
    assert.deepEqual(
      oracle.events().map(({ eventId, amount }) => [eventId, amount]),
      [['reversal-final', 300]],
    );
    assert.partialDeepStrictEqual(oracle.find('hold'), {
      seq: 1,
      amount: 1_000,
      account: '',
      incremented: 0,
      pending: 0,
    });
    oracle.close();
  });

  it('rejects a file of a later version', () => {
    openLedger(file).close();
    const database = new DatabaseSync(file);
    database.exec('PRAGMA user_version = 99');
    database.close();
    assert.throws(() => openLedger(file), /SANDBOX_LEDGER: .*later version/);
  });
});

/** A ledger of the first version: a hold that was captured, closed and reversed. */
const CLOSED_HOLD = `
INSERT INTO entry SELECT 1, 'hold', 'authorization', '', 'acme', 't', 'u', 'tok', 1000, 'EUR', 0, 'reversed', 1, 'r', '', '', '',
  'visa', '4242', 12, 2034, '', 9, 1, 300, 700, 300;
INSERT INTO entry SELECT 2, 'final', 'capture', 'hold', 'acme', 't', 'u', 'tok', 300, 'EUR', 1, 'reversed', 1, 'r', 'b', '', '',
  'visa', '4242', 12, 2034, '', 0, 2, 0, 0, 300;
INSERT INTO entry SELECT 3, 'void', 'void', 'hold', '', '', '', '', 0, '', 0, '', 1, 'r', '', '', '', '', '', 0, 0, '', 0, 3, 0, 100, 0;
INSERT INTO event VALUES ('reversal-final', 'captureReversed', 'final', 4, 5, 1, NULL);
`;
