/** Lists among two million holds of one merchant, and for every change among a fifth of them: each filter by an index, or by comparing a bounded number of rows. */
import assert from 'node:assert/strict';
import { STORE_HOLDS } from '../../bench/stored-holds.ts';
import type { OrmDatabase } from '../../services/core/storage/database.ts';
import { type HoldFilter, listHolds } from '../../services/core/storage/hold/read-holds.ts';
import { openDatabase } from '../../services/core/storage/open-database.ts';
import { READ_LIMITS } from '../../services/core/storage/open-pool.ts';
import { listResults, type ResultFilter } from '../../services/core/storage/operation/operation-row.ts';
import { atNight } from '../at-night.ts';
import { createMigratedDatabase, type TestDatabase } from '../database.ts';

const HOLDS = atNight(2_000_000, 400_000);
/** As bench/stored-holds.ts makes them. */
const USERS = 100_000;
/** Rows that a page compares (scan-page.ts), and then passes again to find where it ended. */
const MOST_READ = 2 * 10_000 + 100;

describe(`Lists among ${HOLDS} holds`, () => {
  let test: TestDatabase;
  let database: OrmDatabase;

  before(async () => {
    test = await createMigratedDatabase();
    const writing = await openDatabase({
      databaseUrl: test.url,
      poolSize: 1,
      limits: { statement_timeout: 0, query_timeout: 0 },
    });
    for (let first = 0; first < HOLDS; first += HOLDS / 20) {
      await writing.query({ name: '', text: STORE_HOLDS }, ['acme', HOLDS / 20, first]);
    }
    await writing.query({ name: '', text: 'analyze' }, []);
    await writing.close();
    database = await openDatabase({ databaseUrl: test.url, poolSize: 1, limits: READ_LIMITS });
  });
  after(async () => {
    await database.close();
    await test.drop();
  });

  /** Rows that were read by index, and whole reads, of both tables so far. */
  async function counters(): Promise<{ read: number; whole: number }> {
    await database.query({ name: '', text: 'select pg_stat_force_next_flush()' }, []);
    const text = `select sum(coalesce(idx_tup_fetch, 0))::int as read, sum(coalesce(seq_tup_read, 0))::int as whole
      from pg_stat_user_tables where relname = 'hold' or relname like 'operation%'`;
    const [row] = await database.query<{ read: number; whole: number }>({ name: '', text }, []);
    assert(row);
    return row;
  }

  async function readBy(list: () => Promise<{ rows: object[] }>): Promise<{ found: number; read: number; ms: number }> {
    const before = await counters();
    const startedMs = performance.now();
    const { rows } = await list();
    const ms = performance.now() - startedMs;
    const after = await counters();
    assert.equal(after.whole - before.whole, 0, 'a whole table was read');
    return { found: rows.length, read: after.read - before.read, ms };
  }

  const holds = (filter: HoldFilter) => () => listHolds(database, { merchantId: 'acme', ...filter }, undefined, 50);
  const results = (filter: ResultFilter) => () =>
    listResults(database, { merchantId: 'acme', ...filter }, undefined, 50);

  const BY_INDEX: Record<string, [() => Promise<{ rows: object[] }>, number]> = {
    'holds with a reference': [holds({ merchantReference: 'order-77' }), 1],
    'holds of a user': [holds({ userId: 'u4711' }), HOLDS / USERS],
    'holds of a user with a reference': [holds({ userId: 'u77', merchantReference: 'order-77' }), 1],
    'holds of no filter': [holds({}), 50],
    'results of no filter': [results({}), 50],
  };
  for (const [name, [list, found]] of Object.entries(BY_INDEX)) {
    it(`finds ${name} by an index`, async () => {
      const answer = await readBy(list);
      assert.equal(answer.found, found);
      assert(answer.read <= 200, `${answer.read} rows were read`);
    });
  }

  const BOUNDED: Record<string, () => Promise<{ rows: object[] }>> = {
    'holds of a rare amount': holds({ amountFrom: 50_999n, amountTo: 50_999n }),
    'holds of a rare card': holds({ cardLast4: '0001' }),
    'holds of no such card': holds({ cardLast4: 'none' }),
    'results of a rare amount': results({ amountFrom: 50_999n, amountTo: 50_999n }),
    'results with an old reference': results({ merchantReference: 'order-77' }),
    'results of a user': results({ userId: 'u4711' }),
  };
  for (const [name, list] of Object.entries(BOUNDED)) {
    it(`compares a bounded number of rows for ${name}`, async () => {
      const answer = await readBy(list);
      assert(answer.read <= MOST_READ, `${answer.read} rows were read`);
    });
  }

  it('compares a bounded number of rows for results of a rare card, and looks each up once', async () => {
    const answer = await readBy(results({ cardLast4: '0001' }));
    assert(answer.read <= MOST_READ + 10_000, `${answer.read} rows were read`);
  });
});
