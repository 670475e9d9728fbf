import Koa from 'koa';
import { Registry } from 'prom-client';
import { errorFields, type Log, openLog } from '../platform/log.ts';
import { readChannelTls, tlsFiles } from '../platform/tls.ts';
import { createConsole } from './console/console.ts';
import { connectCore } from './core/client.ts';
import { watchCredentials } from './core/credentials.ts';
import { watchClock } from './core/watch-clock.ts';
import { OPENINGS, StreamLimit } from './event-stream/stream-limit.ts';
import { createHealth } from './health.ts';
import { warnOfProxy } from './http/client-address.ts';
import { answerProblems } from './http/error-handler.ts';
import { inTurns } from './http/in-turns.ts';
import { logRequests, nameRequests, traceRequests } from './http/log-requests.ts';
import { readRequestTarget } from './http/request-target.ts';
import { SECURITY_HEADERS } from './http/security-headers.ts';
import { closeUnread, createGatewayServer } from './http/server.ts';
import { openLimits } from './limits/limits.ts';
import { createMetrics, exportRuntime, requestMeter } from './metrics.ts';
import { ROUTES } from './openapi/document.ts';
import { serveDocument } from './openapi/serve.ts';
import { createOperator } from './operator/operator.ts';
import { createRelay } from './relay/relay.ts';
import { ExportLimit } from './resource/csv.ts';
import { InFlightLimits } from './rest/limit-in-flight.ts';
import { createRest } from './rest/rest.ts';
import type { Settings } from './settings.ts';

export interface Gateway {
  readonly port: number;
  /** Settles with the first credentials from core; until then requests are answered 503. */
  readonly ready: Promise<void>;
  /** Stops: accepts nothing new, ends streams, lets requests finish for 10 s. */
  close(): Promise<void>;
}

/** What tests override. */
export interface GatewayOptions {
  readonly log?: Log;
  /** Silence after which an event stream sends a comment, milliseconds. */
  readonly heartbeatMs?: number;
}

/**
 * Starts the edge: the merchants' REST routes and the webhook relay, in front of core. Rejects when the port is taken.
 */
export async function startGateway(settings: Settings, options: GatewayOptions = {}): Promise<Gateway> {
  const log = options.log ?? openLog('gateway', settings.LOG_LEVEL);
  const core = connectCore({
    address: settings.CORE_URL,
    token: settings.GATEWAY_TOKEN,
    timeoutMs: settings.CORE_TIMEOUT_MS,
    tls: readChannelTls('CORE_TLS', tlsFiles('CORE_TLS', settings)),
  });
  const credentials = watchCredentials(core, log);
  const clock = watchClock(core, settings.CORE_TIMEOUT_MS, log);
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
    exportLimit: new ExportLimit(),
    streamLimit: new StreamLimit(settings.STREAMS_PER_API_KEY, limits.limiter(OPENINGS)),
    heartbeatMs: options.heartbeatMs ?? 10_000,
  };
  const inFlight = new InFlightLimits(settings.REST_IN_FLIGHT, registry);
  const rest = createRest({ ...watch, limiter, inFlight });
  const operator = createOperator({ ...watch, limits, gatewayToken: settings.GATEWAY_TOKEN });

  const app = createApp(settings, log, registry, closing.signal);
  exportRuntime(registry, credentials, clock);
  app.use(relay.middleware);
  // The first is asked first: merchants' requests are the most.
  for (const router of [
    rest,
    operator.router,
    createHealth({ core, credentials, clock, closing: closing.signal }),
    createMetrics(registry, operator.requiresOperator),
    createConsole(),
    serveDocument(),
  ]) {
    app.use(router.routes());
  }
  // Of all of them: each has noted the routes whose path matches.
  app.use(rest.allowedMethods());
  const handle = app.callback();
  const { listen, drain } = createGatewayServer(inTurns((request, response) => void handle(request, response)));
  const stop = async () => {
    await relay.close();
    await clock.close();
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

/** Error codes of a connection that the client closed. */
const GONE: ReadonlySet<unknown> = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'ECONNABORTED', 'EPIPE']);

/**
 * The middlewares of every request. With trusted proxies, Koa reads the client's address from X-Forwarded-For, counted
 * from the right.
 */
function createApp({ TRUSTED_PROXY_HOPS }: Settings, log: Log, registry: Registry, closing: AbortSignal): Koa {
  const app = new Koa({ proxy: TRUSTED_PROXY_HOPS > 0, maxIpsCount: TRUSTED_PROXY_HOPS });
  // Only errors after the start of the answer arrive here. A disconnected client is reported in the request's log line.
  app.on('error', (error) => {
    if (!GONE.has(error.code)) log.warn('answer broken off', errorFields(error));
  });
  if (TRUSTED_PROXY_HOPS === 0) app.use(warnOfProxy(log));
  app.use(nameRequests);
  app.use(traceRequests);
  app.use(logRequests(log, requestMeter(registry)));
  app.use(async (ctx, next) => {
    for (const [name, value] of SECURITY_HEADERS) ctx.res.setHeader(name, value);
    await next();
    if (closing.aborted) ctx.set('Connection', 'close');
  });
  app.use(closeUnread());
  app.use(answerProblems(log, Object.values(ROUTES)));
  app.use(readRequestTarget);
  return app;
}
