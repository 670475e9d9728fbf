import assert from 'node:assert/strict';
import type { Database } from '../../../../../services/core/storage/database.ts';
import { listStored, readStored } from '../../../../../services/core/storage/notification/stored-rows.ts';
import { openPool } from '../../../../../services/core/storage/open-pool.ts';
import { createMigratedDatabase, type TestDatabase } from '../../../../database.ts';

const QUARANTINED = 5_000;

describe('stored notifications beside thousands that were quarantined', () => {
  let test: TestDatabase;
  /** One connection: what it has read is counted when it says so. */
  let database: Database;
  const sql = <Row extends object>(text: string) => database.query<Row>({ name: '', text }, []);

  before(async () => {
    test = await createMigratedDatabase();
    database = await openPool({ databaseUrl: test.url, poolSize: 1 });
    await sql(`insert into notification (merchant_id, request_id, kind, status_info, status, amount, currency, body,
        received_at)
      select 'm', 'n' || n, 'payment', 'captured', 'OK', '1', 'EUR', 'x', now() from generate_series(1, 100) n`);
    await sql(`insert into delivery (id, merchant_id, endpoint_kind, request_id, kind, status_info, state,
        attempt_count, created_at)
      select gen_random_uuid(), 'm', 'internal', 'n' || n, 'payment', 'captured', 'DELIVERED', 1, now()
      from generate_series(1, 100) n`);
    await sql(`insert into quarantined_notification (id, merchant_id, request_id, kind, status_info, status, amount,
        currency, signature, reason, state, received_at, decided_at, delivery_id, once_key)
      select gen_random_uuid(), 'm', 'n' || n % 100, 'payment', 'captured', 'OK', '2', 'EUR', '', 'CONFLICT',
        case n % 2 when 0 then 'RELEASED' else 'DISCARDED' end, now(), now(),
        case n % 2 when 0 then gen_random_uuid() end, n
      from generate_series(1, ${QUARANTINED}) n`);
    await sql('analyze');
  });
  after(async () => {
    await database.close();
    await test.drop();
  });

  async function quarantinedRead(): Promise<number> {
    await sql('select pg_stat_force_next_flush()');
    const [row] = await sql<{ count: number }>(`select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as count
      from pg_stat_user_tables where relname = 'quarantined_notification'`);
    return row?.count ?? assert.fail();
  }

  it('are read without these', async () => {
    const before = await quarantinedRead();
    const page = await listStored(database.query, { merchantId: 'm', parkedOnly: false, after: undefined }, 50);
    const one = await readStored(database.query, { merchantId: 'm', requestId: 'n7' });
    assert.equal(page.filter(({ deliveryId }) => deliveryId !== null).length, 50);
    assert(one?.deliveryId);
    const read = (await quarantinedRead()) - before;
    assert(read <= 100, `${read} rows were read`);
  });
});
