import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import Koa from 'koa';
import helmet from 'koa-helmet';
import { Registry } from 'prom-client';
import { answerProblems } from './answer-problems.ts';
import { connectCore } from './core.ts';
import { watchCredentials } from './credentials.ts';
import { createHealth } from './health.ts';
import { openLimits } from './limits.ts';
import { createLog, errorFields, type Log } from './log.ts';
import { logRequests } from './log-requests.ts';
import { createRest } from './rest/rest.ts';
import type { Settings } from './settings.ts';

/** A gateway that serves. */
export interface Gateway {
  readonly port: number;
  /** Settles when core has told the credentials; until then requests are answered 503. */
  readonly ready: Promise<void>;
  /** Stops: accepts nothing new, ends streams, lets requests finish for 10 s. */
  close(): Promise<void>;
}

/** What a test may set otherwise. */
export interface GatewayOptions {
  readonly log?: Log;
  /** Silence after which an event stream sends a comment, milliseconds. */
  readonly heartbeatMs?: number;
}

const DRAIN_MS = 10_000;

/** Starts the edge: the merchants' REST routes and the webhook relay, in front of core. Rejects when the port is taken. */
export async function startGateway(settings: Settings, options: GatewayOptions = {}): Promise<Gateway> {
  const log = options.log ?? createLog(settings.LOG_LEVEL);
  const core = connectCore({
    address: settings.CORE_URL,
    token: settings.GATEWAY_TOKEN,
    timeoutMs: settings.CORE_TIMEOUT_MS,
  });
  const credentials = watchCredentials(core, log);
  const closing = new AbortController();
  const limits = openLimits({ redisUrl: settings.REDIS_URL, log, registry: new Registry() });
  const limiter = limits.limiter({ name: 'rest', points: settings.REST_RATE_PER_SECOND, durationSeconds: 1 });
  const rest = createRest({
    core,
    credentials,
    limiter,
    log,
    closing: closing.signal,
    heartbeatMs: options.heartbeatMs ?? 10_000,
  });

  const app = createApp(settings, log, closing.signal);
  for (const router of [createHealth(credentials, closing.signal), rest]) {
    app.use(router.routes()).use(router.allowedMethods());
  }
  const server = createHttpServer(app);
  const stop = async () => {
    await credentials.close();
    core.close();
    limits.close();
  };
  try {
    await once(server.listen(settings.PORT, settings.HOST), 'listening');
  } catch (error) {
    await stop();
    throw error;
  }
  const address = server.address();
  assert(address && typeof address === 'object');
  return {
    port: address.port,
    ready: credentials.ready,
    close: async () => {
      closing.abort();
      await drain(server);
      await stop();
    },
  };
}

/** What every request meets first. With hops, Koa takes the client's address from X-Forwarded-For, counted from the right. */
function createApp({ TRUSTED_PROXY_HOPS }: Settings, log: Log, closing: AbortSignal): Koa {
  const app = new Koa({ proxy: TRUSTED_PROXY_HOPS > 0, maxIpsCount: TRUSTED_PROXY_HOPS });
  // Only what happens after the answer has begun ends up here; a reader that went away is no news.
  app.on('error', (error) => {
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') log.warn('answer broken off', errorFields(error));
  });
  app.use(logRequests(log));
  app.use(helmet());
  app.use(async (ctx, next) => {
    ctx.set('Cache-Control', 'no-store');
    await next();
    if (closing.aborted) ctx.set('Connection', 'close');
  });
  app.use(answerProblems(log));
  return app;
}

/** Node's defaults (60 s for headers, 300 s for a request) are for friends. An answer may take as long as it takes. */
function createHttpServer(app: Koa): Server {
  const bounds = {
    headersTimeout: 5_000,
    requestTimeout: 10_000,
    connectionsCheckingInterval: 1_000,
    keepAliveTimeout: 65_000,
    maxHeaderSize: 16 * 1024,
  };
  return createServer(bounds, app.callback());
}

async function drain(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const deadline = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearInterval(sweep);
  clearTimeout(deadline);
}
