import { type Clock, systemClock } from '../../../platform/clock.ts';
import { boundHttp2Streams } from '../../../platform/http2-limits.ts';
import { type Log, openLog } from '../../../platform/log.ts';
import { readServerTls, tlsFiles } from '../../../platform/tls.ts';
import { openBooks } from '../books/books.ts';
import type { Reach } from '../domain/crash-points.ts';
import { watchHealth } from '../health/watch-health.ts';
import { watchProcessors } from '../health/watch-processors.ts';
import { openMetrics } from '../metrics/core-metrics.ts';
import { contractViolations, measuredProcessor } from '../metrics/measured-processor.ts';
import { metricsTokens, openMetricsServer } from '../metrics/metrics-server.ts';
import { openProcessors } from '../processor/processors.ts';
import type { Core } from '../rpc/core.ts';
import { openContractCache } from '../rpc/merchant/contract-cache.ts';
import { openAccept } from '../rpc/notification/accept-notifications.ts';
import { openSignedNotifications } from '../rpc/notification/signed-notifications.ts';
import { OPERATION_SIZES, openLogFeed, wakeAtCommits } from '../rpc/operation/log-feed.ts';
import { RELAYED_SIZES } from '../rpc/relay/watch-relayed.ts';
import { openConnectServer } from '../rpc/server/connect-server.ts';
import { openGrpcServer } from '../rpc/server/grpc-server.ts';
import { interceptorsOf } from '../rpc/server/interceptors.ts';
import { servicesOf } from '../rpc/services.ts';
import type { CoreSettings } from '../settings/core-settings.ts';
import { openAnnounce } from '../storage/announce.ts';
import { openCipher } from '../storage/cipher.ts';
import { demandMigrated } from '../storage/demand-migrated.ts';
import { openRelayedLog } from '../storage/notification/relayed-log.ts';
import { openDatabase } from '../storage/open-database.ts';
import { READ_LIMITS } from '../storage/open-pool.ts';
import { OPERATION_LOG } from '../storage/operation/operation-row.ts';
import { identitiesIn } from '../storage/processor-identity/processor-identity.ts';

export type RunningCore = Awaited<ReturnType<typeof startCore>>;

/** Options for tests. */
export interface CoreOptions {
  readonly clock?: Clock;
  readonly reach?: Reach;
  readonly log?: Log;
}

/** Starts the RPC process: one set of handlers behind two servers. A start that fails leaves nothing open. */
export async function startCore(settings: CoreSettings, options: CoreOptions = {}) {
  await using opened = new AsyncDisposableStack();
  const log = options.log ?? openLog('core', settings.LOG_LEVEL);
  const clock = options.clock ?? systemClock;
  const tls = readServerTls('CORE_TLS', tlsFiles('CORE_TLS', settings));
  const metrics = openMetrics({ runtime: settings.CORE_METRICS_PORT !== undefined });
  const { DATABASE_URL: databaseUrl, DATABASE_POOL_SIZE: poolSize } = settings;
  await demandMigrated(databaseUrl);
  const isStandbyComplete = settings.SYNCHRONOUS_STANDBY === 'true';
  const database = await openDatabase({ databaseUrl, poolSize, isStandbyComplete });
  opened.defer(() => database.close());
  const reads = await openDatabase({
    databaseUrl,
    poolSize: Math.ceil(poolSize / 2),
    limits: READ_LIMITS,
    isStandbyComplete,
  });
  opened.defer(() => reads.close());
  const processors = openProcessors(settings, {
    wrap: (processor, name) => measuredProcessor(processor, name, metrics),
    onViolation: contractViolations(metrics, log),
    callsInFlight: settings.MAX_CALLS_IN_FLIGHT,
    identities: identitiesIn(database, log),
  });
  opened.defer(() => processors.close());
  const announce = openAnnounce(database);
  const cipher = openCipher(settings.ENCRYPTION_KEYS);
  const feed = openLogFeed(OPERATION_LOG, OPERATION_SIZES, { database, reads, log });
  opened.defer(() => feed.close());
  const relayed = openLogFeed(openRelayedLog(), RELAYED_SIZES, { database, reads, log });
  opened.defer(() => relayed.close());
  const listening = wakeAtCommits([feed, relayed], databaseUrl, log);
  opened.defer(() => listening.close());
  const core: Core = {
    settings,
    database,
    reads,
    books: openBooks(database, announce, metrics.books),
    contracts: openContractCache(database, clock),
    accept: openAccept(database, announce, log),
    feed,
    relayed,
    notifications: openSignedNotifications(reads.query, cipher, clock),
    announce,
    processors,
    cipher,
    metrics,
    clock,
    log,
    reach: options.reach ?? (() => undefined),
  };
  const services = servicesOf(core);
  const interceptors = interceptorsOf(core);
  const health = await watchHealth({
    database,
    log,
    isStandbyComplete,
    services: services.map(({ service }) => service.typeName),
    processors,
  });
  opened.defer(() => health.close());
  const asking = watchProcessors(processors, log);
  opened.defer(() => asking.close());
  metrics.watchPool(database.connections);
  metrics.watchClock(health.clockOffsetS);
  metrics.watchStandby(health.aloneS);
  const metricsServer =
    settings.CORE_METRICS_PORT === undefined
      ? undefined
      : await openMetricsServer({
          registry: metrics.registry,
          host: settings.HOST,
          port: settings.CORE_METRICS_PORT,
          setting: 'CORE_METRICS_PORT',
          tokens: metricsTokens(settings),
          isReady: health.isServing,
          log,
        });
  opened.defer(() => metricsServer?.close());
  opened.defer(boundHttp2Streams());
  const servers: { close(): Promise<void> }[] = [];
  opened.defer(async () => {
    health.drain();
    await Promise.all(servers.map((server) => server.close()));
  });
  const parts = { services, interceptors, host: settings.HOST, tls };
  const grpc = await openGrpcServer({ ...parts, health, port: settings.CORE_PORT });
  servers.push(grpc);
  const connect = await openConnectServer({ ...parts, port: settings.CONNECT_PORT });
  servers.push(connect);
  log.info('listening', { corePort: grpc.port, connectPort: connect.port, tls: tls !== undefined });
  const running = opened.move();
  return {
    corePort: grpc.port,
    connectPort: connect.port,
    /** Undefined without CORE_METRICS_PORT. */
    metricsPort: metricsServer?.port,
    /** Lets running calls end, then closes everything. */
    close: () => running.disposeAsync(),
  };
}
