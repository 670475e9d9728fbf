import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { v7 as uuidv7 } from 'uuid';
import { Answer } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Intent, NO_ENDING, NO_INTENT } from '../../../../services/sandbox/ledger/entry.ts';
import { openLedger } from '../../../../services/sandbox/ledger/ledger.ts';
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

  it('returns an event that core received once, however often it is reported', async () => {
    const ledger = openLedger(file);
    const { requestId } = intent();
    await ledger.commit(({ events }) => events.insert('captureReversed', requestId, 1, 2));
    const report = () => ledger.commit(({ events }) => events.reported(`reversal-${requestId}-3`, 5));
    const [first, second] = await Promise.all([report(), report()]);
    assert.deepEqual([first?.requestId, first?.stage, first?.reportedAtMs, second], [requestId, 2, 5, undefined]);
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

  it('rejects a file of another version', () => {
    openLedger(file).close();
    const database = new DatabaseSync(file);
    database.exec('PRAGMA user_version = 99');
    database.close();
    assert.throws(() => openLedger(file), /SANDBOX_LEDGER: .*another version/);
  });
});
