import assert from 'node:assert/strict';
import { Client } from 'pg';
import { countMinutes } from '../../../../../services/core/reports/minutes.ts';
import type { Database } from '../../../../../services/core/storage/database.ts';
import { openPool } from '../../../../../services/core/storage/open-pool.ts';
import { createMigratedDatabase, type TestDatabase } from '../../../../database.ts';

const NOW = new Date(Math.floor(Date.now() / 60_000) * 60_000 + 30_000);

describe('countMinutes()', () => {
  let test: TestDatabase;
  let database: Database;
  let client: Client;
  before(async () => {
    test = await createMigratedDatabase();
    database = await openPool({ databaseUrl: test.url, poolSize: 4 });
    client = new Client({ connectionString: test.url });
    await client.connect();
    // A result every 100 ms for the last 100 minutes, of two merchants in turn.
    await client.query(
      `insert into operation (request_id, kind, status, status_info, merchant_id, terminal_id, user_id, amount, currency,
        final_state_date)
      select gen_random_uuid(), 'OCT', 'OK', 'paid', 'm' || n % 2, 't', 'u', n, 'EUR',
        $1::timestamptz - (60000 - n) * interval '100 ms'
      from generate_series(1, 60000) n`,
      [NOW],
    );
    await client.query('analyze operation');
  });
  after(async () => {
    await client.end();
    await database.close();
    await test.drop();
  });

  /** The rows of the log that its connections have read. */
  const rowsRead = async ({ query }: Database) => {
    await query({ name: '', text: 'select pg_stat_force_next_flush()' }, []);
    const { rows } = await client.query<{ count: number }>(`select sum(idx_tup_fetch + seq_tup_read)::int as count
      from pg_stat_user_tables where relname like 'operation%'`);
    return rows[0]?.count ?? assert.fail();
  };

  it('counts each minute of the hour, also at its edges', async () => {
    const minutes = await countMinutes(database.query, NOW, 60, null);
    // The present minute is half over, and the result at NOW belongs to it.
    assert.deepEqual(
      minutes.map(({ okCount }) => okCount),
      [...Array.from({ length: 59 }, () => 600), 301],
    );
    const ofOne = await countMinutes(database.query, NOW, 60, 'm1');
    assert.deepEqual(
      ofOne.map(({ okCount }) => okCount),
      [...Array.from({ length: 59 }, () => 300), 150],
    );
  });

  it('reads what it counts once, and few older ones', async () => {
    const single = await openPool({ databaseUrl: test.url, poolSize: 1 });
    try {
      const before = await rowsRead(single);
      await countMinutes(single.query, NOW, 60, null);
      const read = (await rowsRead(single)) - before;
      // 35 701 are counted. Walking to the first older one read them twice.
      assert(read >= 35_701 && read <= 35_701 + 6_000, `${read} rows read`);
    } finally {
      await single.close();
    }
  });

  it("walks no other merchants' log for one that has nothing", async () => {
    const single = await openPool({ databaseUrl: test.url, poolSize: 1 });
    try {
      const before = await rowsRead(single);
      // PostgreSQL keeps one plan for all merchants after some calls.
      for (let call = 1; call <= 10; call++) await countMinutes(single.query, NOW, 60, 'none');
      const read = (await rowsRead(single)) - before;
      assert(read <= 1_000, `${read} rows read`);
    } finally {
      await single.close();
    }
  });
});
