/** Writes of holds that this process has written last: judged without reading, and never refused by what was kept. */
import assert from 'node:assert/strict';
import { createHash, randomUUIDv7 } from 'node:crypto';
import { type Books, openBooks } from '../../../../services/core/books/books.ts';
import { LastWritten } from '../../../../services/core/books/last-written.ts';
import { settleGatheredHolds } from '../../../../services/core/books/settle-gathered.ts';
import { storeGathered, storeGatheredHolds } from '../../../../services/core/books/store-gathered.ts';
import type { HoldRequest } from '../../../../services/core/books/submission-request.ts';
import type { FinalOutcome } from '../../../../services/core/domain/outcome.ts';
import type { Database, Query } from '../../../../services/core/storage/database.ts';
import type { HoldInput } from '../../../../services/core/storage/hold/insert-holds.ts';
import { type KnownHold, readHolds } from '../../../../services/core/storage/hold/read-holds.ts';
import { openPool } from '../../../../services/core/storage/open-pool.ts';
import { createMigratedDatabase, type TestDatabase } from '../../../database.ts';

const AT = new Date('2027-01-01T00:00:00.123Z');
const LATER = new Date('2027-01-08T00:00:00.000Z');
const APPROVED: FinalOutcome = {
  answer: 'APPROVED',
  reference: 'r1',
  bankReference: '',
  card: { brand: 'VISA', last4: '4242', expiryMonth: 1, expiryYear: 2030, funding: 'CREDIT' },
  networkTransactionId: 'n1',
  guaranteedUntil: new Date('2027-01-05T00:00:00.000Z'),
  capabilities: { severalCaptures: true, increments: true, partialRelease: true, extension: true, refunds: true },
};
const REFUSED: FinalOutcome = { answer: 'DECLINED', code: 'declined', message: 'no' };

describe('a hold that this process has written last', () => {
  let home: TestDatabase;
  let database: Database;
  /** The statements made since the test began, by name. */
  let made: string[];

  before(async () => {
    home = await createMigratedDatabase();
    const pool = await openPool({ databaseUrl: home.url, poolSize: 4 });
    const query: Query = (statement, values) => {
      made.push(statement.name);
      return pool.query(statement, values);
    };
    database = { ...pool, query };
  });

  after(async () => {
    await database.close();
    await home.drop();
  });

  beforeEach(() => {
    made = [];
  });

  const open = (): Books => openBooks(database, () => undefined);

  async function place(books: Books, input = holdInput()): Promise<HoldInput> {
    const { facts } = await books.store({ kind: 'HOLD', requestId: input.requestId, hold: input });
    assert(facts);
    assert.equal((await books.settle({ facts, outcome: APPROVED, at: AT })).changed, true);
    return input;
  }

  async function readHold({ requestId }: Pick<HoldInput, 'requestId'>) {
    const [hold] = await readHolds(database.query, [requestId]);
    assert(hold);
    return hold;
  }

  /** Demands that each column of the table is known as it is in the database. */
  async function demandAsRead(known: KnownHold | undefined): Promise<void> {
    assert(known);
    const read = await readHold(known);
    const names = Object.keys(read) as (keyof typeof read)[];
    assert.deepEqual(Object.fromEntries(names.map((name) => [name, known[name] ?? null])), read);
  }

  it('is captured by two statements, and so is one whose capture was stored', async () => {
    const books = open();
    const hold = await place(books);
    const { facts, outcome } = await books.store(captureOf(hold));
    assert.equal(outcome, 'STORED');
    assert(facts);
    assert.equal((await books.settle({ facts, outcome: APPROVED, at: AT })).changed, true);
    assert.deepEqual(made, ['insert-holds', 'settle-holds', 'store-submissions', 'settle-submissions']);
    const { status, captured, remaining } = await readHold(hold);
    assert.deepEqual([status, captured, remaining], ['CAPTURED', 100n, 0n]);
  });

  const HOLDS: Record<string, Partial<HoldInput>> = {
    'a plain hold': {},
    'one that is kept, and whose merchant is notified of its end': {
      keepUntil: new Date('2027-02-01T00:00:00.000Z'),
      notifyExpiringHours: 24,
    },
    'one with everything that a merchant may say': {
      merchantReference: 'order',
      description: 'a room',
      metadata: { room: '12', floor: '1' },
      expectedCaptureAt: LATER,
      captureAt: LATER,
      releaseAt: LATER,
      merchantReason: 'NO_SHOW',
      customerPresent: false,
      sentNetworkTransactionId: 'n0',
      notifyHolds: false,
    },
  };

  for (const [name, fields] of Object.entries(HOLDS)) {
    it(`is known as it is stored: ${name}`, async () => {
      const lastWritten = new LastWritten();
      const input = holdInput(fields);
      const [stored] = await storeGatheredHolds(database, [input]);
      assert(typeof stored === 'object' && stored.facts?.kind === 'HOLD');
      await settleGatheredHolds(database, lastWritten, [{ facts: stored.facts, outcome: APPROVED, at: AT }]);
      await demandAsRead(lastWritten.take(input));
    });
  }

  const REQUESTS: Record<string, Partial<HoldRequest>> = {
    'a capture': { kind: 'CAPTURE', amount: 40n },
    'an automatic capture': { kind: 'CAPTURE', automatic: true },
    'a release': { kind: 'RELEASE' },
    'a release of a part': { kind: 'PARTIAL_RELEASE', amount: 30n },
    'an increment': { kind: 'INCREMENT', amount: 50n },
    'an extension': { kind: 'EXTENSION' },
    'a renewal': { kind: 'RENEWAL', at: new Date('2027-01-04T00:00:00.000Z') },
  };

  for (const [name, fields] of Object.entries(REQUESTS)) {
    it(`is known as it is reserved: ${name}`, async () => {
      const renewing = fields.kind === 'RENEWAL' && { keepUntil: new Date('2027-02-01T00:00:00.000Z') };
      const capturing = fields.automatic && { captureAt: AT };
      const hold = await place(open(), holdInput({ ...renewing, ...capturing }));
      const lastWritten = new LastWritten();
      const [stored] = await storeGathered(database, lastWritten, [{ ...captureOf(hold), ...fields }]);
      assert(typeof stored === 'object');
      assert.equal(stored.outcome, 'STORED');
      await demandAsRead(lastWritten.take(hold));
    });
  }

  it('is read again when somebody else has changed it since', async () => {
    const books = open();
    const hold = await place(books);
    await database.query({ name: '', text: 'update hold set frozen = true where request_id = $1' }, [hold.requestId]);
    assert.equal((await books.store(captureOf(hold))).outcome, 'HOLD_FROZEN');
    const { inFlight, remaining } = await readHold(hold);
    assert.deepEqual([inFlight, remaining], [0n, 100n]);
  });

  it('is not known when somebody else has changed it before it was placed', async () => {
    const books = open();
    const input = holdInput();
    const { facts } = await books.store({ kind: 'HOLD', requestId: input.requestId, hold: input });
    assert(facts);
    await database.query({ name: '', text: 'update hold set frozen = true where request_id = $1' }, [input.requestId]);
    await books.settle({ facts, outcome: APPROVED, at: AT });
    assert.equal((await books.store(captureOf(input))).outcome, 'HOLD_FROZEN');
  });

  it('is not refused by what this process wrote when another one has settled since', async () => {
    const [ours, theirs] = [open(), open()];
    const hold = await place(ours);
    const { facts } = await ours.store(captureOf(hold));
    assert(facts);
    await theirs.settle({ facts, outcome: REFUSED, at: AT });
    assert.equal((await ours.store(captureOf(hold))).outcome, 'STORED');
  });

  it('settles once, whoever settled it before', async () => {
    const [ours, theirs] = [open(), open()];
    const hold = await place(ours);
    const { facts } = await ours.store(captureOf(hold));
    assert(facts);
    assert.equal((await theirs.settle({ facts, outcome: APPROVED, at: AT })).changed, true);
    assert.equal((await ours.settle({ facts, outcome: REFUSED, at: AT })).changed, false);
    const { status, captured } = await readHold(hold);
    assert.deepEqual([status, captured], ['CAPTURED', 100n]);
  });

  it('is read for the end of what another process has stored', async () => {
    const [ours, theirs] = [open(), open()];
    const hold = await place(ours);
    const { facts } = await theirs.store({ ...captureOf(hold), kind: 'RELEASE' });
    assert(facts);
    assert.equal((await ours.settle({ facts, outcome: APPROVED, at: AT })).changed, true);
    const { status, released } = await readHold(hold);
    assert.deepEqual([status, released], ['RELEASED', 100n]);
  });

  it('has the reservations of all submissions that are open', async () => {
    const books = open();
    const hold = await place(books);
    const part = { amount: 30n, finalCapture: false };
    const [first, second] = [
      { ...captureOf(hold), ...part },
      { ...captureOf(hold), ...part },
    ];
    const stored = [await books.store(first), await books.store(second)];
    for (const { facts } of stored) {
      assert(facts);
      assert.equal((await books.settle({ facts, outcome: APPROVED, at: AT })).changed, true);
    }
    const { captured, remaining, inFlight } = await readHold(hold);
    assert.deepEqual([captured, remaining, inFlight], [60n, 40n, 0n]);
  });

  it('answers a repeated request as repeated', async () => {
    const [ours, theirs] = [open(), open()];
    const hold = await place(ours);
    const capture = { ...captureOf(hold), amount: 10n, finalCapture: false };
    assert.equal((await theirs.store(capture)).outcome, 'STORED');
    assert.equal((await ours.store(capture)).outcome, 'REPEATED');
    assert.equal((await ours.store(capture)).outcome, 'REPEATED');
    assert.equal((await readHold(hold)).inFlight, 10n);
  });

  it('is forgotten after 2 000 others', () => {
    const lastWritten = new LastWritten();
    const hashes = Array.from({ length: 2_001 }, (_, number) => Buffer.from(String(number)));
    for (const idHash of hashes) lastWritten.keep({ idHash } as KnownHold);
    const [first, second] = hashes.map((idHash) => lastWritten.take({ idHash }));
    assert.equal(first, undefined);
    assert.equal(second?.idHash, hashes[1]);
    assert.equal(lastWritten.take({ idHash: hashes[1] as Buffer }), undefined);
  });
});

function holdInput(fields: Partial<HoldInput> = {}): HoldInput {
  const requestId = randomUUIDv7();
  const idHash = createHash('sha256').update(requestId).digest();
  return {
    requestId,
    method: 'HOLD',
    fingerprint: idHash.toString('hex'),
    merchantId: 'acme',
    amount: 100n,
    currency: 'EUR',
    processor: 'p',
    processorAccount: '',
    createdAt: AT,
    inquireAt: LATER,
    terminalId: 't',
    userId: 'u',
    tokenId: 'tok',
    phase: 'AUTHORIZING',
    idHash,
    idKey: 'k1',
    allowMultipleCaptures: true,
    customerPresent: true,
    notifyHolds: true,
    holdPeriodS: 604_800,
    saveCard: false,
    ...fields,
  };
}

function captureOf({ idHash, merchantId, currency }: HoldInput): HoldRequest {
  const claim = { method: 'CAPTURE', fingerprint: '00' } as const;
  const common = { kind: 'CAPTURE', requestId: randomUUIDv7(), idHash, claim, merchantId, currency } as const;
  return { ...common, amount: 100n, finalCapture: true, at: AT, inquireAt: LATER };
}
