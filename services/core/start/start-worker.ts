import { type Clock, systemClock } from '../../../platform/clock.ts';
import { type Log, openLog } from '../../../platform/log.ts';
import { type PeriodicJob, runPeriodically } from '../../../platform/periodic-job.ts';
import { openBooks } from '../books/books.ts';
import { Deliverer } from '../delivery/deliverer.ts';
import { forwardParkedNotifications } from '../delivery/forward-parked.ts';
import { targetOf } from '../egress/gateway-address.ts';
import type { ConnectRules } from '../egress/guarded-connector.ts';
import { openSender } from '../egress/http-sender.ts';
import { watchDatabase } from '../health/watch-database.ts';
import { watchProcessors } from '../health/watch-processors.ts';
import type { Sender } from '../kinds/sender.ts';
import { exportBacklog } from '../metrics/backlog-gauges.ts';
import { openMetrics } from '../metrics/core-metrics.ts';
import { contractViolations, measuredProcessor } from '../metrics/measured-processor.ts';
import { metricsTokens, openMetricsServer } from '../metrics/metrics-server.ts';
import { openProcessors, rowsByProcessor } from '../processor/processors.ts';
import {
  automaticCaptures,
  expiries,
  expiringNotices,
  keptHolds,
  renewals,
  replacedAuthorizations,
} from '../recovery/due-holds.ts';
import { checkoutExpiries, inquiries } from '../recovery/inquire-open.ts';
import { type Work, workLoop } from '../recovery/work-loop.ts';
import { rollMinutes } from '../reports/rolled-minutes.ts';
import type { WorkerSettings } from '../settings/worker-settings.ts';
import { type Announce, openAnnounce } from '../storage/announce.ts';
import { openCipher } from '../storage/cipher.ts';
import type { Database } from '../storage/database.ts';
import { demandMigrated } from '../storage/demand-migrated.ts';
import { endpointName } from '../storage/endpoint/endpoint-row.ts';
import { retireExpiredSecrets, tellOfExpiringSecrets } from '../storage/endpoint/expiring-secrets.ts';
import { openPool } from '../storage/open-pool.ts';
import { makePartitions } from '../storage/partitions.ts';
import { identitiesIn } from '../storage/processor-identity/processor-identity.ts';
import { openPurge } from '../storage/purge.ts';

/** Starts the worker: deliveries, expiry, recovery; any number may run. A start that fails leaves nothing open. */
export async function startWorker(settings: WorkerSettings, options: { clock?: Clock; log?: Log } = {}) {
  await using opened = new AsyncDisposableStack();
  const log = options.log ?? openLog('worker', settings.LOG_LEVEL);
  const clock = options.clock ?? systemClock;
  const scraped = metricsServerOf(settings);
  const metrics = openMetrics({ runtime: scraped !== undefined });
  await demandMigrated(settings.DATABASE_URL);
  const { DATABASE_URL: databaseUrl, DATABASE_POOL_SIZE: poolSize } = settings;
  const isStandbyComplete = settings.SYNCHRONOUS_STANDBY === 'true';
  const database = await openPool({ databaseUrl, poolSize, isStandbyComplete });
  opened.defer(() => database.close());
  const processors = openProcessors(settings, {
    wrap: (processor, name) => measuredProcessor(processor, name, metrics),
    onViolation: contractViolations(metrics, log),
    identities: identitiesIn(database, log),
  });
  opened.defer(() => processors.close());
  const announce = openAnnounce(database);
  metrics.watchPool(database.connections);
  exportBacklog({ registry: metrics.registry, database, processors, clock, log });
  const wallClock = () => clock().getTime();
  const watch = await watchDatabase({ database, log, isStandbyComplete, wallClock });
  opened.defer(() => watch.close());
  const asking = watchProcessors(processors, log);
  opened.defer(() => asking.close());
  metrics.watchClock(watch.clockOffsetS);
  metrics.watchStandby(watch.aloneS);
  let working = false;
  const metricsServer =
    scraped &&
    (await openMetricsServer({
      ...scraped,
      registry: metrics.registry,
      isReady: () => working && watch.isUsable(),
      log,
    }));
  opened.defer(() => metricsServer?.close());
  const cipher = openCipher(settings.ENCRYPTION_KEYS);
  const sender = openSender(rulesOf(settings));
  // A wrong clock would expire holds early or never, put off deliveries for as long as it is wrong, and delete too much.
  const isSound = watch.isClockSound;
  const deliverer = new Deliverer({
    database,
    sender,
    cipher,
    clock,
    isSound,
    log,
    onAttempt: metrics.deliveryAttempt,
  });
  const books = openBooks(database, announce, metrics.books);
  const recovery: Sender = { database, books, clock, log, processors, cipher, reach: () => undefined };
  const jobs = [
    ...jobsOf(settings, database, announce).map((job) =>
      runPeriodically({ ...job, runOnce: async (now) => isSound() && job.runOnce(now) }, log, clock),
    ),
    // Each processor has its own slots, so that a silent or unconfigured one cannot occupy the others'.
    ...rowsByProcessor(processors).flatMap((at) => {
      const start = <Item>(work: Work<Item>) => {
        const find: typeof work.find = async (...search) => (isSound() ? work.find(...search) : []);
        return workLoop({ ...work, ...(!at.only && { intervalMs: GONE_MS }), find }, log, clock);
      };
      return [
        start(inquiries(recovery, at)),
        start(automaticCaptures(recovery, at)),
        start(keptHolds(recovery, at)),
        start(replacedAuthorizations(recovery, at)),
        start(expiringNotices(recovery, at)),
        start(renewals(recovery, at)),
        start(expiries(recovery, at)),
        start(checkoutExpiries(recovery, at)),
      ];
    }),
  ];
  opened.defer(async () => {
    working = false;
    await Promise.all([deliverer.close(), ...jobs.map((job) => job.close())]);
  });
  deliverer.start(settings.DATABASE_URL);
  working = true;
  log.info('working');
  const running = opened.move();
  return {
    /** Undefined without WORKER_METRICS_PORT. */
    metricsPort: metricsServer?.port,
    /** Starts nothing new, lets running work end, then closes everything. */
    close: () => running.disposeAsync(),
  };
}

/** The settings of the metrics server; undefined = none. */
function metricsServerOf(settings: WorkerSettings) {
  const { WORKER_METRICS_PORT: port, HOST: host } = settings;
  if (port === undefined) return undefined;
  const tokens = metricsTokens(settings);
  if (tokens === '') throw new Error('settings: WORKER_METRICS_PORT needs METRICS_TOKEN');
  return { port, tokens, host, setting: 'WORKER_METRICS_PORT' };
}

/** Interval of searches for due rows of processors no longer configured: their outcome stays unknown anyway. */
const GONE_MS = 5_000;

/** Meanwhile nothing is stored. */
const ATTACH_MS = 1_000;

function jobsOf(settings: WorkerSettings, database: Database, announce: Announce): PeriodicJob[] {
  const purge = openPurge(database, {
    notifications: settings.RETENTION_DAYS,
    operations: settings.OPERATION_RETENTION_DAYS,
  });
  return [
    {
      name: 'forward-parked',
      intervalMs: 1_000,
      runOnce: (now) => forwardParkedNotifications(database, announce, now),
    },
    {
      name: 'tell-of-expiring-secrets',
      intervalMs: 60_000,
      runOnce: async (now) => {
        const told = await database.transaction((query) => tellOfExpiringSecrets(query, now));
        announce(told.map(endpointName));
        return told.length;
      },
    },
    { name: 'retire-expired-secrets', intervalMs: 60_000, runOnce: (now) => retireExpiredSecrets(database, now) },
    { name: 'make-partitions', intervalMs: 3_600_000, runOnce: (now) => makePartitions(database, now, ATTACH_MS) },
    { name: 'count-minutes', intervalMs: 5_000, runOnce: (now) => rollMinutes(database.query, now) },
    { name: 'purge', intervalMs: 3_600_000, runOnce: (now) => purge(now) },
  ];
}

/** Internal endpoints must not lead back to the gateway, whatever name they use. */
function rulesOf(settings: WorkerSettings): Record<'webhook' | 'internal', ConnectRules> {
  return {
    webhook: { allowed: settings.WEBHOOK_ALLOWED_CIDRS, proxy: settings.WEBHOOK_PROXY_URL },
    internal: { allowed: settings.INTERNAL_ALLOWED_CIDRS, gateways: settings.GATEWAY_ORIGIN.map(targetOf) },
  };
}
