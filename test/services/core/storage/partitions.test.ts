import assert from 'node:assert/strict';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { recordAttempts } from '../../../../services/core/storage/delivery/record-attempts.ts';
import { migrateDatabase } from '../../../../services/core/storage/migrate-database.ts';
import { dropPartitions, makePartitions } from '../../../../services/core/storage/partitions.ts';
import { forEachTest } from '../../../suite.ts';
import { openDeliveryStage } from '../delivery/stage.ts';

const DAY_MS = 86_400_000;
/** The beginning of a partition of 14 and of 30 days, long after those that the migration makes. */
const START_MS = 210 * 120 * DAY_MS;
const at = (days: number) => new Date(START_MS + days * DAY_MS);

describe('partitions', () => {
  const stage = forEachTest(openDeliveryStage);

  beforeEach(async () => {
    await stage.addMerchant('m', 'http://127.0.0.1:1');
  });
  /** Those that the migration made are long over. */
  const dropFirst = () => drop(-1);

  /** Stores a delivery of a day, with an attempt. */
  async function deliveryOf(days: number, state: 'PENDING' | 'DELIVERED'): Promise<string> {
    const id = uuidv7({ msecs: at(days).getTime() });
    await stage.sql('update delivery set id = $1 where id = $2', [id, await stage.addDelivery('m')]);
    await stage.sql(
      `insert into delivery_attempt (delivery_id, number, merchant_id, started_at, latency_ms) values ($1, 1, 'm',
        now(), 1)`,
      [id],
    );
    if (state === 'DELIVERED') await end(id);
    return id;
  }

  const end = (id: string) => stage.sql("update delivery set state = 'DELIVERED', due_at = null where id = $1", [id]);

  async function resultOf(days: number, finalDays = days): Promise<string> {
    const id = uuidv7({ msecs: at(days).getTime() });
    await stage.sql(
      `insert into operation (request_id, kind, status, status_info, merchant_id, terminal_id, user_id, amount,
        currency, final_state_date)
        values ($1, 'OCT', 'OK', 'paid', 'm', 't', 'u', 1, 'EUR', $2)`,
      [id, at(finalDays)],
    );
    return id;
  }

  const placeOf = async (table: string, key: string, id: string) => {
    const rows = await stage.sql<{ place: string }>(
      `select tableoid::regclass::text as place from ${table} where ${key} = $1`,
      [id],
    );
    return rows[0]?.place;
  };
  const placesOf = async (id: string) => [
    await placeOf('delivery', 'id', id),
    await placeOf('delivery_attempt', 'delivery_id', id),
  ];
  const drop = (days: number) =>
    dropPartitions(stage.database, { delivery: at(days), delivery_attempt: at(days), operation: at(days) });

  it('are made ahead by the migration, so that no worker need run for four weeks', async () => {
    // Exactly four weeks on the last day of a partition, so not counted from a later day than that of the migration.
    const migratedMs = Date.now();
    await migrateDatabase(stage.url);
    const [now, soon] = [await stage.addDelivery('m'), uuidv7({ msecs: migratedMs + 28 * DAY_MS })];
    await stage.sql('update delivery set id = $1 where id = $2', [soon, await stage.addDelivery('m')]);
    for (const id of [now, soon]) assert.match((await placeOf('delivery', 'id', id)) ?? '', /^delivery_p\d{8}$/);
  });

  it('are not made while the default one cannot be checked in time, which names it', async () => {
    await stage.sql(
      `insert into delivery (id, merchant_id, endpoint_kind, request_id, kind, status_info, body, state, attempt_count,
          created_at)
        select gen_random_uuid(), 'm', 'webhook', n, 'payment', 'captured', '', 'DELIVERED', 1, now()
        from generate_series(1, 30000) n`,
      [],
    );
    const message = /^delivery_p\d{8} is not made: delivery_default has too many rows; run npm run migrate$/;
    await assert.rejects(makePartitions(stage.database, at(1), 1), { message });
    assert((await makePartitions(stage.database, at(1), 0)) > 0);
  });

  it('are made once, by however many workers', async () => {
    const made = await Promise.all([1, 2, 3].map(() => makePartitions(stage.database, at(1), 0)));
    assert.equal(
      made.reduce((sum, each) => sum + each),
      9,
    );
    assert.equal(await makePartitions(stage.database, at(2), 0), 0);
    assert.equal(await makePartitions(stage.database, at(15), 0), 2, 'deliveries and attempts of the next two weeks');
  });

  it('are missed by no row: one without a partition goes to the default one, whose range gets none', async () => {
    await dropFirst();
    const early = await deliveryOf(1, 'DELIVERED');
    assert.deepEqual(await placesOf(early), ['delivery_default', 'delivery_attempt_default']);
    assert.equal(await makePartitions(stage.database, at(2), 0), 7);
    assert.deepEqual(await placesOf(await deliveryOf(3, 'DELIVERED')), [
      'delivery_default',
      'delivery_attempt_default',
    ]);
    assert.deepEqual(await placesOf(await deliveryOf(14, 'DELIVERED')), [
      `delivery_p${nameOf(14)}`,
      `delivery_attempt_p${nameOf(14)}`,
    ]);
    assert.equal(await drop(100), 4 + 7, 'two deliveries with their attempts, and seven partitions');
    assert.deepEqual(await placesOf(early), [undefined, undefined]);
  });

  it('are dropped when they are older than the retention, but not what waits for an attempt', async () => {
    await dropFirst();
    await makePartitions(stage.database, at(1), 0);
    const [ended, waiting, next] = [
      await deliveryOf(1, 'DELIVERED'),
      await deliveryOf(1, 'PENDING'),
      await deliveryOf(15, 'DELIVERED'),
    ];
    assert.equal(await drop(13), 0);
    assert.equal(await drop(14), 2);
    assert.deepEqual(await placesOf(ended), [undefined, undefined]);
    assert.deepEqual(await placesOf(waiting), ['delivery_default', 'delivery_attempt_default']);
    assert.deepEqual(await placesOf(next), [`delivery_p${nameOf(14)}`, `delivery_attempt_p${nameOf(14)}`]);
    assert.equal((await stage.deliveryOf(waiting)).state, 'PENDING');
    await end(waiting);
    assert.equal(await drop(14), 2, 'the delivery and its attempt');
    assert.deepEqual(await placesOf(waiting), [undefined, undefined]);
  });

  it('of the log are dropped, not recent results of old operations; the audit knows where the log begins', async () => {
    await dropFirst();
    await makePartitions(stage.database, at(1), 0);
    const [old, recent, next] = [await resultOf(1), await resultOf(1, 29.9), await resultOf(31)];
    assert.equal(await drop(29), 4, 'only deliveries and attempts of both weeks');
    assert.equal(await drop(31), 1);
    const left = await stage.sql<{ requestId: string }>('select request_id from operation order by sequence');
    assert.deepEqual(
      left.map(({ requestId }) => requestId),
      [next],
      `${recent} is older than the retention by now`,
    );
    assert.equal(await placeOf('operation', 'request_id', old), undefined);
    const [row] = await stage.sql<{ from: string }>('select results_from as from from installation');
    assert((row?.from ?? '') > recent && (row?.from ?? '') < next);
  });

  it('are not waited for while somebody reads', async () => {
    await dropFirst();
    await makePartitions(stage.database, at(1), 0);
    const id = await deliveryOf(1, 'DELIVERED');
    const reader = new pg.Client({ connectionString: stage.url });
    await reader.connect();
    try {
      await reader.query('begin');
      await reader.query('select from delivery limit 1');
      await drop(14);
      assert.deepEqual(
        await placesOf(id),
        [`delivery_p${nameOf(0)}`, 'delivery_attempt_default'],
        'an attempt follows its delivery',
      );
    } finally {
      await reader.end();
    }
    await drop(14);
    assert.deepEqual(await placesOf(id), [undefined, undefined]);
  });

  it('are pruned: an attempt is recorded in those of its delivery, and no other is read', async () => {
    await dropFirst();
    await makePartitions(stage.database, at(1), 0);
    const id = await deliveryOf(1, 'PENDING');
    await stage.sql('delete from delivery_attempt');
    let text = '';
    await recordAttempts(async (statement) => {
      text = statement.text;
      return [];
    }, []);
    const client = new pg.Client({ connectionString: stage.url, options: '-c enable_seqscan=off' });
    await client.connect();
    const records = [{ deliveryId: id, number: 1, startedAt: at(1), latencyMs: 1, state: 'DELIVERED', endedAt: at(1) }];
    const { rows } = await client.query(`explain (analyze, costs off, timing off, summary off) ${text}`, [
      JSON.stringify(records),
    ]);
    await client.end();
    const reads = rows.map((row) => String(row['QUERY PLAN'])).filter((line) => / on delivery_\w+ d_\d+ /.test(line));
    assert.equal(reads.length, 4, 'three partitions and the default one');
    const executed = reads.filter((line) => !line.includes('never executed'));
    assert.deepEqual(
      executed.map((line) => / on (\w+) /.exec(line)?.[1]),
      [`delivery_p${nameOf(0)}`],
    );
  });
});

/** The suffix of the partition that begins at a day. */
function nameOf(days: number): string {
  return at(days).toISOString().slice(0, 10).replaceAll('-', '');
}
