import Koa from 'koa';
import helmet from 'koa-helmet';
import { Registry } from 'prom-client';
import { errorFields, type Log, openLog } from '../proto/log.ts';
import { readChannelTls } from '../proto/tls.ts';
import { answerProblems } from './answer-problems.ts';
import { closeUnread } from './close-unread.ts';
import { createConsole } from './console/console.ts';
import { connectCore } from './core.ts';
import { watchCredentials } from './credentials.ts';
import { createHealth } from './health.ts';
import { holdBackRefusals } from './hold-back.ts';
import { createHttpServer } from './http-server.ts';
import { openLimits } from './limits.ts';
import { logRequests } from './log-requests.ts';
import { createMetrics, exportRuntime, requestMeter } from './metrics.ts';
import { serveDocument } from './openapi/serve.ts';
import { createOperator } from './operator/operator.ts';
import { createRelay } from './relay/relay.ts';
import { readRequestTarget } from './request-target.ts';
import { OPENINGS, OpenStreams } from './rest/open-streams.ts';
import { createRest } from './rest/rest.ts';
import type { Settings } from './settings.ts';
import { traceRequests } from './trace-requests.ts';
import { warnOfProxy } from './warn-of-proxy.ts';

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

/** Starts the edge: the merchants' REST routes and the webhook relay, in front of core. Rejects when the port is taken. */
export async function startGateway(settings: Settings, options: GatewayOptions = {}): Promise<Gateway> {
  const log = options.log ?? openLog('gateway', settings.LOG_LEVEL);
  const core = connectCore({
    address: settings.CORE_URL,
    token: settings.GATEWAY_TOKEN,
    timeoutMs: settings.CORE_TIMEOUT_MS,
    tls: readChannelTls('CORE_TLS', {
      ca: settings.CORE_TLS_CA,
      cert: settings.CORE_TLS_CERT,
      key: settings.CORE_TLS_KEY,
      name: settings.CORE_TLS_NAME,
    }),
  });
  const credentials = watchCredentials(core, log);
  const closing = new AbortController();
  const registry = new Registry();
  const limits = openLimits({ redisUrl: settings.REDIS_URL, log, registry });
  const relay = createRelay({
    notifications: core.notifications,
    credentials,
    limits,
    log,
    registry,
    verifiedPerSecond: settings.RELAY_VERIFIED_PER_SECOND,
    addressPerSecond: settings.RELAY_ADDRESS_PER_SECOND,
  });
  const limiter = limits.limiter({ name: 'rest', points: settings.REST_RATE_PER_SECOND, durationSeconds: 1 });
  const watch = {
    core,
    credentials,
    log,
    closing: closing.signal,
    openStreams: new OpenStreams(settings.STREAMS_PER_API_KEY, limits.limiter(OPENINGS)),
    heartbeatMs: options.heartbeatMs ?? 10_000,
  };
  const rest = createRest({ ...watch, limiter });
  const operator = createOperator({ ...watch, limits, gatewayToken: settings.GATEWAY_TOKEN });

  const app = createApp(settings, log, registry, closing.signal);
  exportRuntime(registry, credentials);
  app.use(relay.middleware);
  for (const router of [
    createHealth(core, credentials, closing.signal),
    createMetrics(registry, operator.requiresOperator),
    createConsole(),
    serveDocument(),
    rest,
    operator.router,
  ]) {
    app.use(router.routes()).use(router.allowedMethods());
  }
  const { listen, drain } = createHttpServer(app.callback());
  const stop = async () => {
    await relay.close();
    await credentials.close();
    core.close();
    limits.close();
  };
  let port: number;
  try {
    port = await listen(settings.PORT, settings.HOST);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    port,
    ready: credentials.ready,
    close: async () => {
      closing.abort();
      await drain();
      await stop();
    },
  };
}

/** Codes of a connection that the other side has left. */
const GONE: ReadonlySet<unknown> = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'ECONNABORTED', 'EPIPE']);

/** What every request meets first. With hops, Koa takes the client's address from X-Forwarded-For, counted from the right. */
function createApp({ TRUSTED_PROXY_HOPS }: Settings, log: Log, registry: Registry, closing: AbortSignal): Koa {
  const app = new Koa({ proxy: TRUSTED_PROXY_HOPS > 0, maxIpsCount: TRUSTED_PROXY_HOPS });
  // Only what happens after the answer has begun ends up here; that the other side went away stands in the request's line.
  app.on('error', (error) => {
    if (!GONE.has(error.code)) log.warn('answer broken off', errorFields(error));
  });
  if (TRUSTED_PROXY_HOPS === 0) app.use(warnOfProxy(log));
  app.use(traceRequests);
  app.use(logRequests(log, requestMeter(registry)));
  app.use(helmet());
  app.use(async (ctx, next) => {
    ctx.set('Cache-Control', 'no-store');
    await next();
    if (closing.aborted) ctx.set('Connection', 'close');
  });
  app.use(closeUnread());
  app.use(holdBackRefusals(registry, closing));
  app.use(answerProblems(log));
  app.use(readRequestTarget);
  return app;
}
