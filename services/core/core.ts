import { Server, ServerCredentials } from '@grpc/grpc-js';
import { openBooks } from './books/books.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Reach } from './crash-points.ts';
import { openCredentialsFeed } from './feeds/credentials-feed.ts';
import { openOperationFeed } from './feeds/operation-feed.ts';
import { openQueue } from './jobs/queue.ts';
import { openLog } from './log.ts';
import { openProcessor } from './processor/processor.ts';
import { openConnectDoor } from './rpc/connect-door.ts';
import type { Core } from './rpc/core.ts';
import { mountServices } from './rpc/grpc-door.ts';
import { interceptorsOf } from './rpc/interceptors.ts';
import { servicesOf } from './rpc/services.ts';
import type { CoreSettings } from './settings.ts';
import { openCipher } from './storage/cipher.ts';
import { openContracts } from './storage/contracts.ts';
import { openDatabase } from './storage/database.ts';

/** A running core. */
export interface RunningCore {
  readonly corePort: number;
  readonly connectPort: number;
  /** Lets running calls end, then closes everything. */
  close(): Promise<void>;
}

/** What a test gives besides the settings. */
export interface CoreOptions {
  readonly clock?: Clock;
  readonly reach?: Reach;
}

/** Starts the RPC process: one set of handlers and interceptors behind two doors. */
export async function startCore(settings: CoreSettings, options: CoreOptions = {}): Promise<RunningCore> {
  const log = openLog('core', settings.LOG_LEVEL);
  const clock = options.clock ?? systemClock;
  const database = await openDatabase({ databaseUrl: settings.DATABASE_URL, poolSize: settings.DATABASE_POOL_SIZE });
  const queue = await openQueue(settings.DATABASE_URL, 'core', log);
  const cipher = openCipher(settings.ENCRYPTION_KEYS);
  const feed = openOperationFeed(database, settings.DATABASE_URL, log);
  const processor = openProcessor(settings);
  const core: Core = {
    settings,
    database,
    books: openBooks(database, queue.ring),
    contracts: openContracts(database, clock),
    feed,
    credentials: openCredentialsFeed(database, cipher),
    processor,
    cipher,
    clock,
    log,
    reach: options.reach ?? (() => undefined),
  };
  const services = servicesOf(core);
  const interceptors = interceptorsOf(core);
  const server = new Server(SERVER_OPTIONS);
  mountServices(server, services, interceptors);
  const corePort = await listen(server, settings);
  const door = await openConnectDoor(services, interceptors, settings.HOST, settings.CONNECT_PORT);
  log.info({ event: 'listening', corePort, connectPort: door.port });
  return {
    corePort,
    connectPort: door.port,
    async close() {
      await Promise.all([drain(server), door.close()]);
      await feed.close();
      processor.close();
      await queue.close();
      await database.close();
    },
  };
}

/** The edge keeps its connections; a dead one is noticed within half a minute. */
const SERVER_OPTIONS = {
  'grpc.max_receive_message_length': 1024 * 1024,
  'grpc.keepalive_time_ms': 20_000,
  'grpc.keepalive_timeout_ms': 10_000,
};

/** How long running calls may take to end; streams are ended at once after it. */
const DRAIN_MS = 10_000;

function listen(server: Server, settings: CoreSettings): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(`${settings.HOST}:${settings.CORE_PORT}`, ServerCredentials.createInsecure(), (error, port) => {
      if (error) reject(new Error(`CORE_PORT ${settings.CORE_PORT} cannot be used: ${error.message}`));
      else resolve(port);
    });
  });
}

function drain(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const force = setTimeout(() => server.forceShutdown(), DRAIN_MS);
    server.tryShutdown(() => {
      clearTimeout(force);
      resolve();
    });
  });
}
