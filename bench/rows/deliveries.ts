import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { endModule, isStarted, startModule } from '../child.ts';
import { cpuEach } from '../cpu.ts';
import type { House } from '../house.ts';
import { type LoadOrder, runLoad } from '../load.ts';
import { runPlainWorker } from '../references/plain-worker.ts';
import type { Measured, Row } from '../row.ts';
import { holdOrder } from './calls.ts';

const OPERATIONS_PER_SECOND = 500;
const BACKLOG = 10_000;

/** From the final commit of an operation to the first attempt of its delivery, at 500 operations a second; median. */
export const firstAttemptP50: Row = latencyRow('p50', 0.5, 10);
/** The same, 99th percentile. */
export const firstAttemptP99: Row = latencyRow('p99', 0.99, 100);

function latencyRow(word: string, quantile: number, goalMs: number): Row {
  return {
    name: `final commit to first attempt at ${OPERATIONS_PER_SECOND} operations/s, ${word}`,
    unit: 'ms',
    reference: `the goal, ${goalMs} ms`,
    goal: { atMost: 1 },
    async prepare(house, seconds) {
      const url = await openReceiver(house);
      await startWorker(house);
      const { merchantId } = await house.createMerchant({ webhookUrl: url });
      const order = { ...(await holdOrder(house, 64, seconds, { merchantId })), perSecond: OPERATIONS_PER_SECOND };
      return async () => ({ value: await firstAttemptMs(house, order, quantile), reference: goalMs });
    },
  };
}

async function firstAttemptMs(house: House, order: LoadOrder, quantile: number): Promise<number> {
  const merchantId = order.options.merchantId ?? '';
  const since = new Date();
  await runLoad(order);
  await drained(house, merchantId);
  const [row] = await house.query<{ ms: number }>(
    `select percentile_cont($2) within group (
        order by extract(epoch from a.started_at - pg_xact_commit_timestamp(o.xmin)) * 1000)::float8 as ms
      from delivery d join delivery_attempt a on a.delivery_id = d.id and a.number = 1
      join operation o on o.request_id = d.request_id::uuid where d.merchant_id = $1 and d.created_at >= $3`,
    [merchantId, quantile, since],
  );
  return row?.ms ?? Number.NaN;
}

async function startWorker(house: House): Promise<void> {
  await house.start('worker');
  house.atRowEnd(() => house.stop('worker'));
}

/** Deliveries a second to one fast receiver, against a worker written by hand. */
export const deliveries: Row = {
  name: 'deliveries to one fast receiver',
  unit: 'per second',
  reference: 'a plain worker, SKIP LOCKED and undici',
  goal: { atLeast: 1 },
  async prepare(house) {
    const url = await openReceiver(house);
    await startWorker(house);
    return async () => ({
      ...(await deliveriesPerSecond(house, url)),
      ...(await runPlainWorker(house, url, BODY, BACKLOG)),
    });
  },
};

async function deliveriesPerSecond(house: House, webhookUrl: string): Promise<Pick<Measured, 'value' | 'cpu'>> {
  const { merchantId } = await house.createMerchant({ webhookUrl });
  // Due when all of them are stored: first attempts are made up to a second early.
  await house.query(
    `insert into delivery (id, merchant_id, endpoint_kind, request_id, kind, status_info, body, state, attempt_count,
    due_at, created_at)
      select uuidv7(), $1, 'webhook', gen_random_uuid()::text, 'payment', 'captured', convert_to($2, 'UTF8'),
        'PENDING', 0, now() + interval '2.5 s', now()
      from generate_series(1, ${BACKLOG})`,
    [merchantId, BODY.replace('MERCHANT', merchantId)],
  );
  const before = await house.cpu();
  await drained(house, merchantId);
  // Without the first tenth, while the worker begins.
  const [row] = await house.query<{ seconds: number }>(
    `select extract(epoch from max(delivered_at) - percentile_disc(0.1) within group (order by delivered_at))::float8
      as seconds from delivery where merchant_id = $1`,
    [merchantId],
  );
  return { value: (0.9 * BACKLOG) / (row?.seconds ?? Number.NaN), cpu: cpuEach(before, await house.cpu(), BACKLOG) };
}

const BODY = JSON.stringify({
  merchantId: 'MERCHANT',
  requestId: 'r',
  status: 'OK',
  amount: 10_000,
  currency: 'EUR',
  reference: 'bench',
});

/** Looks seldom: each look opens a connection and reads the backlog, which costs as much as fifty deliveries. */
async function drained(house: House, merchantId: string): Promise<void> {
  const deadline = performance.now() + 120_000;
  const text = `select from delivery where merchant_id = $1 and state = 'PENDING' limit 1`;
  while ((await house.query(text, [merchantId])).length > 0) {
    if (performance.now() > deadline) throw new Error('the backlog of deliveries did not drain in two minutes');
    await sleep(LOOK_MS);
  }
}

const LOOK_MS = 250;

/** A merchant's backend that answers at once, in a process of its own; it is closed with the row. */
async function openReceiver(house: House) {
  const child = startModule(import.meta.url);
  const [port] = (await once(child, 'message')) as [number];
  house.atRowEnd(() => endModule(child));
  return `http://127.0.0.1:${port}`;
}

if (isStarted(import.meta.url)) {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.end('{}'));
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
  process.on('disconnect', () => process.exit(0));
}
