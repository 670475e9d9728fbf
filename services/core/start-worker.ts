import { type Log, openLog } from '../../proto/log.ts';
import { openBooks } from './books/books.ts';
import { type Clock, systemClock } from './clock.ts';
import type { ConnectRules } from './delivery/connect.ts';
import { targetOf } from './delivery/gateway-address.ts';
import { openSender } from './delivery/sender.ts';
import { openTerms } from './delivery/terms.ts';
import { openDeliverer } from './jobs/deliver.ts';
import { every, type PeriodicJob } from './jobs/every.ts';
import { expiries } from './jobs/expire-holds.ts';
import { forwardParkedNotifications } from './jobs/forward-parked.ts';
import { inquiries, type Recovery } from './jobs/inquire.ts';
import { openPurge } from './jobs/purge.ts';
import { openQueue, type Queue } from './jobs/queue.ts';
import { sweepDeliveries } from './jobs/sweep-deliveries.ts';
import { type Work, workLoop } from './jobs/work-loop.ts';
import { exportBacklog } from './metrics/backlog-gauges.ts';
import { measuredProcessor } from './metrics/measured-processor.ts';
import { openMetrics } from './metrics/metrics.ts';
import { openMetricsDoor } from './metrics/metrics-door.ts';
import { openProcessor } from './processor/processor.ts';
import { openCipher } from './storage/cipher.ts';
import { type Database, openDatabase } from './storage/database.ts';
import { type DatabaseWatch, watchDatabase } from './watch-database.ts';
import type { WorkerSettings } from './worker-settings.ts';

/** A running worker. */
export interface RunningWorker {
  /** Absent without WORKER_METRICS_PORT. */
  readonly metricsPort?: number | undefined;
  /** Takes on nothing more, lets what is under way end, then closes everything. */
  close(): Promise<void>;
}

/** What a test gives besides the settings. */
export interface WorkerOptions {
  readonly clock?: Clock;
  readonly log?: Log;
}

/**
 * Starts the worker: deliveries, expiry and recovery. Any number of workers share one database. A start that fails leaves nothing
 * open.
 */
export async function startWorker(settings: WorkerSettings, options: WorkerOptions = {}): Promise<RunningWorker> {
  await using opened = new AsyncDisposableStack();
  const log = options.log ?? openLog('worker', settings.LOG_LEVEL);
  const clock = options.clock ?? systemClock;
  const door = metricsDoorOf(settings);
  const metrics = openMetrics({ runtime: door !== undefined });
  const processor = measuredProcessor(openProcessor(settings), metrics);
  opened.defer(() => processor.close());
  const database = await openDatabase({ databaseUrl: settings.DATABASE_URL, poolSize: settings.DATABASE_POOL_SIZE });
  opened.defer(() => database.close());
  const queue = await openQueue(settings.DATABASE_URL, 'worker', log);
  opened.defer(() => queue.close());
  metrics.watchPool(database.connections);
  exportBacklog({ registry: metrics.registry, database, clock, log });
  const watch = await watchDatabase({ database, log });
  opened.defer(() => watch.close());
  metrics.watchClock(watch.clockOffsetS);
  let working = false;
  const metricsDoor =
    door &&
    (await openMetricsDoor({ ...door, registry: metrics.registry, isReady: () => working && watch.isUsable(), log }));
  opened.defer(() => metricsDoor?.close());
  const cipher = openCipher(settings.ENCRYPTION_KEYS);
  const sender = openSender({ rules: rulesOf(settings) });
  const terms = openTerms(database, cipher, clock);
  const deliverer = openDeliverer({
    database,
    queue,
    sender,
    terms,
    clock,
    log,
    onAttempt: metrics.deliveryAttempt,
  });
  const books = openBooks(database, queue.ring, metrics.books);
  const recovery: Recovery = { database, books, clock, log, processor, cipher, reach: () => undefined };
  const jobs = [
    ...jobsOf(settings, database, queue).map((job) => every(job, log, clock)),
    workLoop(whileSound(watch, inquiries(recovery)), log, clock),
    workLoop(whileSound(watch, expiries(recovery)), log, clock),
  ];
  opened.defer(async () => {
    working = false;
    await Promise.all([deliverer.close(), ...jobs.map((job) => job.close())]);
  });
  await deliverer.start();
  working = true;
  log.info('working');
  const running = opened.move();
  return { metricsPort: metricsDoor?.port, close: () => running.disposeAsync() };
}

/** The door's part of the settings; undefined = no door. */
function metricsDoorOf({ WORKER_METRICS_PORT: port, OPERATOR_TOKEN: operatorTokens, HOST: host }: WorkerSettings) {
  if (port === undefined) return undefined;
  if (operatorTokens === undefined) throw new Error('settings: WORKER_METRICS_PORT needs OPERATOR_TOKEN');
  return { port, operatorTokens, host, setting: 'WORKER_METRICS_PORT' };
}

/** A clock that is far off would expire holds early, or never: what time decides waits until the clock is right. */
function whileSound<Item>(watch: DatabaseWatch, work: Work<Item>): Work<Item> {
  return { ...work, find: async (limit) => (watch.isClockSound() ? work.find(limit) : []) };
}

function jobsOf(settings: WorkerSettings, database: Database, queue: Queue): PeriodicJob[] {
  const purge = openPurge(database, settings.RETENTION_DAYS);
  return [
    { name: 'sweep-deliveries', intervalMs: 5_000, runOnce: (now) => sweepDeliveries(database, queue, now) },
    {
      name: 'forward-parked',
      intervalMs: 1_000,
      runOnce: (now) => forwardParkedNotifications(database, queue, now),
    },
    { name: 'purge', intervalMs: 3_600_000, runOnce: (now) => purge(now) },
  ];
}

/** Internal endpoints must not lead back to the gateway, by whichever name. */
function rulesOf(settings: WorkerSettings): Record<'webhook' | 'internal', ConnectRules> {
  return {
    webhook: { allowed: settings.WEBHOOK_ALLOWED_CIDRS },
    internal: {
      allowed: settings.INTERNAL_ALLOWED_CIDRS,
      gateways: settings.GATEWAY_ORIGIN.map(targetOf),
    },
  };
}
