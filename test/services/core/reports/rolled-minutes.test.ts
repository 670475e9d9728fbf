import assert from 'node:assert/strict';
import { countMinutes, MINUTE_MS } from '../../../../services/core/reports/minutes.ts';
import { rollMinutes } from '../../../../services/core/reports/rolled-minutes.ts';
import type { Database } from '../../../../services/core/storage/database.ts';
import { openPool } from '../../../../services/core/storage/open-pool.ts';
import { createMigratedDatabase, type TestDatabase } from '../../../database.ts';

/** Ten seconds after a minute's end. */
const NOW = new Date(Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS + 10_000);
const PER_MINUTE = 120;
/** Two a second for the last 100 minutes. */
const TIMES = `select n, $1::timestamptz - n * interval '500 ms' as at from generate_series(0, 12000) n`;

describe('rollMinutes()', () => {
  let test: TestDatabase;
  let database: Database;
  const sql = <Row extends object>(text: string, values: unknown[] = []) =>
    database.query<Row>({ name: '', text }, values);

  before(async () => {
    test = await createMigratedDatabase();
    // One connection: what it has read is counted when it says so.
    database = await openPool({ databaseUrl: test.url, poolSize: 1 });
    await sql(`insert into merchant (id, name, allow_multiple_captures, hold_period_s, currencies, terminals, notify_holds,
        require_signed_captures, created_at, change_number)
      select 'm' || n, 'M', true, 60, '{EUR}', '{t}', true, false, now(), n from generate_series(0, 1) n`);
    // Rows of two merchants in turn; they were stored, and their ids drawn, up to 3 s off their times.
    await sql(
      `insert into operation (request_id, kind, status, status_info, merchant_id, terminal_id, user_id, amount, currency,
        final_state_date)
      select gen_random_uuid(), 'OCT', case n % 3 when 0 then 'KO' else 'OK' end, 'paid', 'm' || n % 2, 't', 'u', n + 1,
        'EUR', at from (${TIMES}) t order by at + (n % 7) * interval '400 ms'`,
      [NOW],
    );
    await sql(
      `insert into delivery (id, merchant_id, endpoint_kind, request_id, kind, status_info, body, state, attempt_count,
        due_at, created_at)
      select (lpad(to_hex((extract(epoch from at + (n % 7 - 3) * interval '1 s') * 1000)::bigint), 12, '0') || '70008000'
          || lpad(to_hex(n), 12, '0'))::uuid, 'm' || n % 2, 'webhook', n, 'payment', 'captured', 'x', state, 1,
        case state when 'PENDING' then at + interval '1 day' end, at
      from (${TIMES}) t,
        lateral (select case n % 1000 when 0 then 'DEAD' when 1 then 'PENDING' else 'DELIVERED' end) s(state)`,
      [NOW],
    );
    await sql(
      `insert into notification (merchant_id, request_id, kind, status_info, status, amount, currency, body, received_at)
      select 'm' || n % 2, n, 'payment', 'captured', 'OK', '1', 'EUR', 'x', at from (${TIMES}) t where n % 10 < 2`,
      [NOW],
    );
    await sql(
      `insert into verification_failure (id, failed_at, reason, kind, status_info, claimed_merchant_id, address,
        body_bytes, body_sha256, signature_sha256prefix)
      select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid,
        at, 'x', 'payment', 'x', case n % 4 when 0 then 'whoever' else 'm1' end, 'a', 1, '', ''
      from (${TIMES}) t where n % 5 = 0`,
      [NOW],
    );
    await sql('analyze');
  });
  after(async () => {
    await database.close();
    await test.drop();
  });

  const rowsRead = async () => {
    await sql('select pg_stat_force_next_flush()');
    const [row] = await sql<{ count: number }>(`select sum(idx_tup_fetch + seq_tup_read)::int as count
      from pg_stat_user_tables where relname ~ '^(operation|delivery|notification|verification)'`);
    return row?.count ?? assert.fail();
  };
  const count = (merchantId: string | null, now = NOW) => countMinutes(database.query, now, 60, merchantId);
  const waited = async (merchantId: string | null, now = NOW) =>
    (await count(merchantId, now)).slice(-3).map(({ waitingCount }) => waitingCount);
  const countedOf = async (merchantId: string | null) =>
    (await count(merchantId)).map(({ waitingCount: _, ...minute }) => minute);

  it('counts as the rows themselves are counted, of one merchant and of all, so that few are read later', async () => {
    const scopes = ['m0', 'm1', 'nobody', null];
    const live: Awaited<ReturnType<typeof countedOf>>[] = [];
    for (const scope of scopes) live.push(await countedOf(scope));
    const [minute] = live.at(-1) ?? [];
    assert.deepEqual(minute, { ...minute, deliveryCount: PER_MINUTE, verifiedCount: 24, refusedCount: 24 });
    // The present minute, and the one that ended 10 s ago, are not counted yet.
    assert.equal(await rollMinutes(database.query, NOW), 60);
    for (const [index, scope] of scopes.entries()) {
      const before = await rowsRead();
      assert.deepEqual(await countedOf(scope), live[index], scope ?? 'all merchants');
      const read = (await rowsRead()) - before;
      assert(scope === 'nobody' || read <= 1_500, `${read} rows read of ${scope ?? 'all'}`);
    }
    assert.equal(await rollMinutes(database.query, NOW), 0);
  });

  it('counts what waits, whenever it was made, at the end of each minute and now', async () => {
    const [row] = await sql<{ count: number }>('select count(*)::int from delivery where due_at is not null');
    assert(row && row.count > 5);
    assert.deepEqual(await waited(null), [undefined, row.count, row.count]);
    await sql(`update delivery set state = 'DELIVERED', due_at = null where due_at is not null`);
    const later = new Date(NOW.getTime() + MINUTE_MS);
    await rollMinutes(database.query, later);
    assert.deepEqual(await waited(null, later), [row.count, 0, 0]);
    assert.deepEqual(await waited('m1', later), [row.count, 0, 0]);
    assert.deepEqual(await waited('m0', later), [0, 0, 0]);
  });

  it('says of a minute that is over how many of its deliveries are delivered by now', async () => {
    const before = await countedOf(null);
    const late = before.findIndex(({ deliveryCount, deliveredCount }) => deliveryCount > deliveredCount);
    const minute = before[late];
    assert(minute);
    await sql(
      `update delivery set state = 'DELIVERED', due_at = null
        where state <> 'DELIVERED' and created_at >= $1 and created_at < $1 + interval '1 minute'`,
      [minute.start],
    );
    assert.deepEqual((await countedOf(null))[late], { ...minute, deliveredCount: PER_MINUTE });
  });

  it('goes on where it ended, counts minutes in which nothing happened, and forgets old ones', async () => {
    const later = new Date(NOW.getTime() + 30 * MINUTE_MS);
    assert.equal(await rollMinutes(database.query, later), 29);
    assert((await count(null, later)).slice(-5).every(({ okCount, deliveryCount }) => okCount + deliveryCount === 0));
    await rollMinutes(database.query, new Date(NOW.getTime() + 300 * MINUTE_MS));
    const [kept] = await sql<{ count: number }>('select count(*)::int from minute_count where start < $1', [NOW]);
    assert.equal(kept?.count, 0);
  });
});
