import assert from 'node:assert/strict';
import type { Database } from '../../../../../services/core/storage/database.ts';
import { recoverRange } from '../../../../../services/core/storage/delivery/make-due-again.ts';
import { openPool } from '../../../../../services/core/storage/open-pool.ts';
import { createMigratedDatabase, type TestDatabase } from '../../../../database.ts';

const DELIVERED = 20_000;

describe('recoverRange()', () => {
  let test: TestDatabase;
  /** One connection: what it has read is counted when it says so. */
  let database: Database;
  const sql = <Row extends object>(text: string) => database.query<Row>({ name: '', text }, []);

  before(async () => {
    test = await createMigratedDatabase();
    database = await openPool({ databaseUrl: test.url, poolSize: 1 });
    await sql(`insert into delivery (id, merchant_id, endpoint_kind, request_id, kind, status_info, body, state,
        attempt_count, due_at, created_at)
      select (lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || '70008000'
          || lpad(to_hex(n), 12, '0'))::uuid, 'm' || n % 2, 'webhook', n, 'payment', 'captured', 'x', state, 1,
        case state when 'PENDING' then now() + interval '1 h' end, now()
      from generate_series(1, ${DELIVERED}) n,
        lateral (select case when n % 2000 < 2 then 'DEAD' when n % 2000 < 4 then 'PENDING' else 'DELIVERED' end) s(state)`);
    await sql('analyze');
  });
  after(async () => {
    await database.close();
    await test.drop();
  });

  async function rowsRead(): Promise<number> {
    await sql('select pg_stat_force_next_flush()');
    const [row] = await sql<{ count: number }>(`select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as count
      from pg_stat_user_tables where relname like 'delivery%'`);
    return row?.count ?? assert.fail();
  }

  for (const merchantId of ['m1', null]) {
    it(`reads only what is not delivered, of ${merchantId ?? 'all merchants'}`, async () => {
      const range = { merchantId, endpoint: null, since: new Date(Date.now() - 3_600_000), until: null };
      // PostgreSQL may keep a plan for all calls after some of them.
      for (let call = 1; call <= 10; call++) {
        const before = await rowsRead();
        const recovered = await recoverRange(database.query, range, new Date());
        assert.equal(recovered.length, call === 1 ? 20 : 0);
        const read = (await rowsRead()) - before;
        assert(read <= 500, `${read} rows were read by call ${call}`);
      }
    });
  }

  it("reads none of another merchant's dead ones", async () => {
    await sql(`insert into delivery (id, merchant_id, endpoint_kind, request_id, kind, status_info, body, state,
        attempt_count, created_at)
      select overlay(id::text placing '71' from 15 for 2)::uuid, 'busy', endpoint_kind, request_id, kind, status_info,
        body, 'DEAD', 1, created_at
      from delivery`);
    const range = { endpoint: null, since: new Date(Date.now() - 3_600_000), until: null };
    for (const isAnalyzed of [false, true]) {
      if (isAnalyzed) await sql('analyze delivery');
      for (let call = 1; call <= 10; call++) {
        const before = await rowsRead();
        const recovered = await recoverRange(database.query, { ...range, merchantId: 'idle' }, new Date());
        assert.deepEqual(recovered, []);
        const read = (await rowsRead()) - before;
        assert(read <= 100, `${read} rows were read by call ${call}`);
      }
    }
    assert.equal((await recoverRange(database.query, { ...range, merchantId: 'busy' }, new Date())).length, 10_000);
  });
});
