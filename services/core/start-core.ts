import { boundHttp2Streams } from '../../proto/http2-bounds.ts';
import { type Log, openLog } from '../../proto/log.ts';
import { type DoorFiles, readDoorTls } from '../../proto/tls.ts';
import { openBooks } from './books/books.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Reach } from './crash-points.ts';
import { openCredentialsFeed } from './feeds/credentials-feed.ts';
import { openOperationFeed } from './feeds/operation-feed.ts';
import { watchHealth } from './health.ts';
import { ALARM_CHANNEL, openQueue } from './jobs/queue.ts';
import { measuredProcessor } from './metrics/measured-processor.ts';
import { openMetrics } from './metrics/metrics.ts';
import { openMetricsDoor } from './metrics/metrics-door.ts';
import { openProcessor } from './processor/processor.ts';
import { openConnectDoor } from './rpc/connect-door.ts';
import type { Core } from './rpc/core.ts';
import { interceptorsOf } from './rpc/interceptors.ts';
import { openGrpcDoor } from './rpc/open-grpc-door.ts';
import { servicesOf } from './rpc/services.ts';
import type { CoreSettings } from './settings.ts';
import { openCipher } from './storage/cipher.ts';
import { openContracts } from './storage/contracts.ts';
import { openDatabase } from './storage/database.ts';

/** A running core. */
export interface RunningCore {
  readonly corePort: number;
  readonly connectPort: number;
  /** Absent without CORE_METRICS_PORT. */
  readonly metricsPort?: number | undefined;
  /** Lets running calls end, then closes everything. */
  close(): Promise<void>;
}

/** What a test gives besides the settings. */
export interface CoreOptions {
  readonly clock?: Clock;
  readonly reach?: Reach;
  readonly log?: Log;
}

/** Starts the RPC process: one set of handlers and interceptors behind two doors. A start that fails leaves nothing open. */
export async function startCore(settings: CoreSettings, options: CoreOptions = {}): Promise<RunningCore> {
  await using opened = new AsyncDisposableStack();
  const log = options.log ?? openLog('core', settings.LOG_LEVEL);
  const clock = options.clock ?? systemClock;
  const tls = readDoorTls('CORE_TLS', coreFiles(settings));
  const metrics = openMetrics({ runtime: settings.CORE_METRICS_PORT !== undefined });
  const processor = measuredProcessor(openProcessor(settings), metrics);
  opened.defer(() => processor.close());
  const database = await openDatabase({ databaseUrl: settings.DATABASE_URL, poolSize: settings.DATABASE_POOL_SIZE });
  opened.defer(() => database.close());
  const queue = await openQueue(settings.DATABASE_URL, 'core', log);
  opened.defer(() => queue.close());
  const cipher = openCipher(settings.ENCRYPTION_KEYS);
  const feed = openOperationFeed(database, settings.DATABASE_URL, ALARM_CHANNEL, log);
  opened.defer(() => feed.close());
  const core: Core = {
    settings,
    database,
    books: openBooks(database, queue.ring, metrics.books),
    contracts: openContracts(database, clock),
    feed,
    credentials: openCredentialsFeed(database, cipher),
    queue,
    processor,
    cipher,
    metrics,
    clock,
    log,
    reach: options.reach ?? (() => undefined),
  };
  const services = servicesOf(core);
  const interceptors = interceptorsOf(core);
  const health = await watchHealth({ database, log, services: services.map(({ service }) => service.typeName) });
  opened.defer(() => health.close());
  metrics.watchPool(database.connections);
  metrics.watchClock(health.clockOffsetS);
  const metricsDoor =
    settings.CORE_METRICS_PORT === undefined
      ? undefined
      : await openMetricsDoor({
          registry: metrics.registry,
          host: settings.HOST,
          port: settings.CORE_METRICS_PORT,
          setting: 'CORE_METRICS_PORT',
          operatorTokens: settings.OPERATOR_TOKEN,
          isReady: health.isServing,
          log,
        });
  opened.defer(() => metricsDoor?.close());
  opened.defer(boundHttp2Streams());
  const doors: { close(): Promise<void> }[] = [];
  opened.defer(async () => {
    health.drain();
    await Promise.all(doors.map((door) => door.close()));
  });
  const parts = { services, interceptors, host: settings.HOST, tls };
  const grpc = await openGrpcDoor({ ...parts, health, port: settings.CORE_PORT });
  doors.push(grpc);
  const connect = await openConnectDoor({ ...parts, port: settings.CONNECT_PORT });
  doors.push(connect);
  log.info('listening', { corePort: grpc.port, connectPort: connect.port, tls: tls !== undefined });
  const running = opened.move();
  return {
    corePort: grpc.port,
    connectPort: connect.port,
    metricsPort: metricsDoor?.port,
    close: () => running.disposeAsync(),
  };
}

function coreFiles(settings: CoreSettings): DoorFiles {
  const { CORE_TLS_CERT: cert, CORE_TLS_KEY: key, CORE_TLS_CLIENT_CA: clientCa } = settings;
  return { cert, key, clientCa };
}
