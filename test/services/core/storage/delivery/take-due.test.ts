import assert from 'node:assert/strict';
import type { Query } from '../../../../../services/core/storage/database.ts';
import { recordAttempts } from '../../../../../services/core/storage/delivery/record-attempts.ts';
import { findWaiting, releaseTaken, takeDue } from '../../../../../services/core/storage/delivery/take-due.ts';
import { openDatabase } from '../../../../../services/core/storage/open-database.ts';
import { forEachTest } from '../../../../suite.ts';
import { openDeliveryStage } from '../../delivery/stage.ts';

describe('takeDue()', () => {
  const stage = forEachTest(openDeliveryStage);

  const addDeliveries = async (merchantId: string, count: number) => {
    for (let index = 0; index < count; index++) await stage.addDelivery(merchantId);
  };
  /** Takes as a worker does that has `room` for each of the merchants; returns how many it got of each. */
  const take = async (merchantIds: readonly string[], room = 100, cap = 100, at = stage.time.now) => {
    const wanted = merchantIds.map((merchantId) => ({ merchantId, endpointId: 'webhook', cap, room }) as const);
    const taken = await takeDue(stage.database.query, wanted, new Date(at));
    return { taken, counts: merchantIds.map((id) => taken.filter(({ merchantId }) => merchantId === id).length) };
  };
  const countsOf = async (...parameters: Parameters<typeof take>) => (await take(...parameters)).counts;
  const waiting = async () =>
    (await findWaiting(stage.database.query, stage.clock())).map(({ merchantId }) => merchantId);
  const pause = (merchantId: string, word: string, untilMs: number | null) =>
    stage.sql(
      `insert into endpoint (merchant_id, kind, pause, paused_until, failure_count, pause_count, changed_at)
        values ($1, 'webhook', $2, $3, 10, 1, now())`,
      [merchantId, word, untilMs === null ? null : new Date(untilMs)],
    );

  it('gives the terms of each merchant once, with one of its deliveries', async () => {
    for (const id of ['m', 'n']) await stage.addMerchant(id, `https://${id}.example`);
    for (const id of ['m', 'n', 'nobody']) await addDeliveries(id, 2);
    await pause('n', 'BREAKER', stage.time.now - 1);
    const { taken } = await take(['m', 'n', 'nobody']);
    const given = taken.flatMap(({ merchantId, terms }) =>
      terms ? { merchantId, url: terms.webhookUrl, secrets: terms.secrets.length, states: terms.states.length } : [],
    );
    assert.deepEqual(
      given.sort((a, b) => a.merchantId.localeCompare(b.merchantId)),
      [
        { merchantId: 'm', url: 'https://m.example', secrets: 1, states: 0 },
        { merchantId: 'n', url: 'https://n.example', secrets: 1, states: 1 },
      ],
    );
    assert.equal(taken.length, 5);
  });

  it('gives each delivery to one worker, the longest due first, until recorded, released, or for 15 s', async () => {
    const first = await stage.addDelivery('m');
    stage.time.now += 10;
    await addDeliveries('m', 9);
    const { taken } = await take(['m'], 1);
    assert.deepEqual(
      taken.map(({ id }) => id),
      [first],
    );
    const several = await Promise.all([1, 2, 3, 4].map(() => countsOf(['m'], 3)));
    const total = several.flat().reduce((sum, count) => sum + count);
    assert.equal(total + ((await countsOf(['m']))[0] ?? 0), 9);
    assert.deepEqual(await countsOf(['m']), [0]);
    await releaseTaken(stage.database.query, [first]);
    assert.deepEqual(
      (await take(['m'])).taken.map(({ id }) => id),
      [first],
    );
    await stage.sql("update delivery set locked_until = locked_until - interval '14 s'");
    assert.deepEqual(await countsOf(['m']), [0]);
    await stage.sql("update delivery set locked_until = locked_until - interval '2 s'");
    assert.deepEqual(await countsOf(['m']), [10]);
    const at = new Date().toISOString();
    const record = {
      deliveryId: first,
      number: 1,
      wasDueAt: at,
      startedAt: at,
      latencyMs: 1,
      endedAt: at,
      state: 'PENDING' as const,
    };
    await recordAttempts(stage.database.query, [{ ...record, dueAt: at }]);
    assert.deepEqual(
      (await take(['m'], 100, 100, Date.now() + 5_000)).taken.map(({ id }) => id),
      [first],
    );
  });

  it('keeps an endpoint to its cap over all workers, and takes of each what there is room for', async () => {
    await addDeliveries('busy', 30);
    await addDeliveries('other', 3);
    assert.deepEqual(await countsOf(['busy', 'other'], 4, 10), [4, 3]);
    assert.deepEqual(await countsOf(['busy', 'other'], 20, 10), [6, 0]);
    assert.deepEqual(await countsOf(['busy']), [20], 'a larger cap');
  });

  it('takes nothing of a paused endpoint, and one probe after the pause of the breaker', async () => {
    for (const merchantId of ['gone', 'stopped', 'broken', 'well']) await addDeliveries(merchantId, 3);
    await pause('gone', 'GONE', null);
    await pause('stopped', 'OPERATOR', null);
    await pause('broken', 'BREAKER', stage.time.now + 10_000);
    const all = ['gone', 'stopped', 'broken', 'well'];
    assert.deepEqual(await waiting(), ['well']);
    assert.deepEqual(await countsOf(all, 2), [0, 0, 0, 2]);
    stage.time.now += 10_000;
    assert.deepEqual(await waiting(), ['broken', 'well']);
    assert.deepEqual(await countsOf(all), [0, 0, 1, 1]);
    assert.deepEqual(await countsOf(all), [0, 0, 0, 0], 'one probe at a time');
  });

  it('takes first attempts by a clock that is behind, and later ones not before their time', async () => {
    const [fresh, retried] = [await stage.addDelivery('m'), await stage.addDelivery('m')];
    await stage.sql('update delivery set attempt_count = 1 where id = $1', [retried]);
    assert.deepEqual(
      (await take(['m'], 10, 10, stage.time.now - 900)).taken.map(({ id }) => id),
      [fresh],
    );
    assert.deepEqual(
      (await take(['m'])).taken.map(({ id }) => id),
      [retried],
    );
  });

  it('does not take what another worker recorded since it looked', async () => {
    const id = await stage.addDelivery('m');
    const database = await openDatabase({ databaseUrl: stage.url, poolSize: 2 });
    const at = stage.clock().toISOString();
    // The statement has its snapshot when it waits for the lock.
    const held: Query = ({ text }, values) => {
      const waiting = text.replace('from json_to_recordset', 'from pg_advisory_xact_lock(28) held, json_to_recordset');
      return database.query({ name: '', text: waiting }, values);
    };
    const isWaiting = async () =>
      (await stage.sql("select from pg_locks where locktype = 'advisory' and objid = 28 and not granted")).length > 0;
    try {
      const taken = await database.transaction(async (query) => {
        await query({ name: '', text: 'select pg_advisory_xact_lock(28)' }, []);
        let isOver = false;
        const late = takeDue(
          held,
          [{ merchantId: 'm', endpointId: 'webhook', cap: 10, room: 10 }],
          stage.clock(),
        ).finally(() => {
          isOver = true;
        });
        while (!isOver && !(await isWaiting()));
        await recordAttempts(stage.database.query, [
          {
            deliveryId: id,
            number: 1,
            wasDueAt: at,
            startedAt: at,
            latencyMs: 1,
            endedAt: at,
            state: 'PENDING',
            dueAt: at,
          },
        ]);
        return { late };
      });
      assert.deepEqual(await taken.late, []);
    } finally {
      await database.close();
    }
  });

  it('is planned at its first executions only', async () => {
    const database = await openDatabase({ databaseUrl: stage.url, poolSize: 1 });
    try {
      const wanted = [{ merchantId: 'm', endpointId: 'webhook', cap: 10, room: 10 }] as const;
      for (let round = 0; round < 10; round++) await takeDue(database.query, wanted, stage.clock());
      const text = `select custom_plans::int, generic_plans::int from pg_prepared_statements
        where name = 'take-due-deliveries'`;
      const plans = await database.query({ name: '', text }, []);
      assert.deepEqual(plans, [{ customPlans: 5, genericPlans: 5 }]);
    } finally {
      await database.close();
    }
  });

  it('reads no more than it takes, however many wait and whatever the statistics say', async () => {
    await stage.sql('analyze delivery');
    await stage.sql(
      `insert into delivery (id, merchant_id, endpoint_kind, request_id, kind, status_info, body, state, attempt_count,
        due_at, created_at)
        select gen_random_uuid(), 'crowd', 'webhook', n::text, 'payment', 'captured', '{}', 'PENDING', 0, now(), now()
        from generate_series(1, 20000) n`,
    );
    const at = Date.now() + 60_000;
    for (let round = 0; round < 8; round++) assert.deepEqual(await countsOf(['crowd'], 20, 200, at), [20]);
    const plans: Plan[] = [];
    const explained: Query = async ({ text }, values) => {
      const [row] = await stage.sql<{ 'QUERY PLAN': readonly [{ Plan: Plan }] }>(
        `explain (analyze, format json) ${text}`,
        values,
      );
      if (row) plans.push(row['QUERY PLAN'][0].Plan);
      return [];
    };
    await takeDue(explained, [{ merchantId: 'crowd', endpointId: 'webhook', cap: 200, room: 20 }], new Date(at));
    const read = rowsScanned(plans[0]);
    assert(read >= 200 && read < 1_000, `${read} rows were read`);
  });
});

interface Plan {
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Plan[];
}

/** Rows that the scans of a plan have read. */
function rowsScanned(plan: Plan | undefined): number {
  if (!plan) return 0;
  const own = plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0);
  const below = (plan.Plans ?? []).reduce((sum, each) => sum + rowsScanned(each), 0);
  return below + (/Index.* Scan|Seq Scan|Bitmap Heap Scan/.test(plan['Node Type']) ? own * plan['Actual Loops'] : 0);
}
