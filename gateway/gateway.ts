import Koa from 'koa';
import { Registry } from 'prom-client';
import { warnOfProxy } from '../platform/client-address.ts';
import { errorFields, type Log, openLog } from '../platform/log.ts';
import { readChannelTls, tlsFiles } from '../platform/tls.ts';
import { createConsole } from './console/console.ts';
import { connectCore } from './core/client.ts';
import { watchCredentials } from './core/credentials.ts';
import { openKeyUses } from './core/key-uses.ts';
import { watchClock } from './core/watch-clock.ts';
import { limitStreams, OPENINGS } from './event-stream/stream-limit.ts';
import { createHealth } from './health.ts';
import { answerProblems, openProblems } from './http/error-handler.ts';
import { openExchanges, REQUEST_ID_HEADER } from './http/exchange.ts';
import { inTurns } from './http/in-turns.ts';
import { Problem } from './http/problem.ts';
import { originForm } from './http/request-target.ts';
import { SECURITY_HEADERS } from './http/security-headers.ts';
import { createGatewayServer } from './http/server.ts';
import { openLimits } from './limits/limits.ts';
import { createMetrics, exportRuntime, requestMeter } from './metrics.ts';
import { ROUTES } from './openapi/document.ts';
import { serveDocument } from './openapi/serve.ts';
import { createOperator } from './operator/operator.ts';
import { createRelay, type Relay, type Surroundings } from './relay/relay.ts';
import { ExportLimit } from './resource/csv.ts';
import { callersOf } from './rest/authenticate.ts';
import { limitInFlight } from './rest/limit-in-flight.ts';
import { createRest } from './rest/rest.ts';
import type { Settings } from './settings.ts';

export type Gateway = Awaited<ReturnType<typeof startGateway>>;

/** Overrides for tests. */
export interface GatewayOptions {
  readonly log?: Log;
  /** Silence after which an event stream sends a comment, milliseconds. */
  readonly heartbeatMs?: number;
}

/**
 * Starts the edge: the merchants' REST routes and the webhook relay, in front of core. Rejects when the port is taken.
 */
export async function startGateway(settings: Settings, options: GatewayOptions = {}) {
  await using opened = new AsyncDisposableStack();
  const log = options.log ?? openLog('gateway', settings.LOG_LEVEL);
  const core = connectCore({
    address: settings.CORE_URL,
    token: settings.GATEWAY_TOKEN,
    timeoutMs: settings.CORE_TIMEOUT_MS,
    tls: readChannelTls('CORE_TLS', tlsFiles('CORE_TLS', settings)),
  });
  opened.defer(() => core.close());
  const credentials = opened.adopt(watchCredentials(core, log), ({ close }) => close());
  const clock = opened.adopt(watchClock(core, settings.CORE_TIMEOUT_MS, log), ({ close }) => close());
  const closing = new AbortController();
  const registry = new Registry();
  const limits = opened.adopt(openLimits({ redisUrl: settings.REDIS_URL, log, registry }), ({ close }) => close());
  const surroundings = {
    exchanging: openExchanges(log, requestMeter(registry)),
    toProblem: openProblems(log, Object.values(ROUTES)),
    trustedHops: settings.TRUSTED_PROXY_HOPS,
    closing: closing.signal,
  };
  const relay = createRelay({
    ...surroundings,
    notifications: core.notifications,
    relay: core.relay,
    credentials,
    limits,
    log,
    registry,
    verifiedPerSecond: settings.RELAY_VERIFIED_PER_SECOND,
    addressPerSecond: settings.RELAY_ADDRESS_PER_SECOND,
  });
  opened.defer(() => relay.close());
  const limiter = limits.limiter({ name: 'rest', points: settings.REST_RATE_PER_SECOND, durationSeconds: 1 });
  const watch = {
    core,
    credentials,
    log,
    closing: closing.signal,
    exportLimit: new ExportLimit(),
    streamLimit: limitStreams(settings.STREAMS_PER_API_KEY, limits.limiter(OPENINGS)),
    heartbeatMs: options.heartbeatMs ?? 10_000,
  };
  const inFlight = limitInFlight(settings.REST_IN_FLIGHT, registry);
  const keyUses = openKeyUses(core, log);
  opened.defer(() => keyUses.close());
  const rest = createRest({ ...watch, limiter, inFlight, keyUses, trustedHops: settings.TRUSTED_PROXY_HOPS });
  const operator = createOperator({ ...watch, limits, gatewayToken: settings.GATEWAY_TOKEN });

  const isReady = async () =>
    !closing.signal.aborted && credentials.isHeard() && clock.isSound() && (await core.isServing());

  const app = createApp(surroundings, relay, log);
  exportRuntime(registry, credentials, clock);
  // The first is asked first: merchants' requests are the most.
  for (const router of [
    rest,
    operator.router,
    createHealth(isReady),
    createMetrics(registry, settings.METRICS_TOKEN, operator.requiresOperator),
    createConsole(),
    serveDocument(),
  ]) {
    app.use(router.routes());
  }
  // Of all of them: each has noted the routes whose path matches.
  app.use(rest.allowedMethods());
  const handle = app.callback();
  const callerOf = callersOf(credentials, settings.TRUSTED_PROXY_HOPS);
  const { listen, drain } = createGatewayServer(
    inTurns((request, response) => void handle(request, response), callerOf),
  );
  const port = await listen(settings.PORT, settings.HOST);
  const running = opened.move();
  return {
    port,
    /** Settles with the first credentials from core; until then requests are answered 503. */
    ready: credentials.ready,
    /** Stops: accepts nothing new, ends streams, lets requests finish for 10 s. */
    close: async () => {
      closing.abort();
      await drain();
      await running.disposeAsync();
    },
  };
}

/** Error codes of a connection that the client closed. */
const GONE: ReadonlySet<unknown> = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'ECONNABORTED', 'EPIPE']);

/**
 * Koa with the relay, and then the middlewares of every other request. With trusted proxies, it reads the client's
 * address from X-Forwarded-For, counted from the right.
 */
function createApp({ exchanging, toProblem, trustedHops, closing }: Surroundings, relay: Relay, log: Log): Koa {
  const app = new Koa({ proxy: trustedHops > 0, maxIpsCount: trustedHops });
  // Only errors after the start of the answer arrive here. A disconnected client is reported in the request's log line.
  app.on('error', (error) => {
    if (!GONE.has(error.code)) log.warn('answer broken off', errorFields(error));
  });
  if (trustedHops === 0) app.use(warnOfProxy(log));
  app.use(relay.middleware);
  const headers = Object.entries(SECURITY_HEADERS);
  app.use((ctx, next) =>
    exchanging(ctx.req, ctx.res, async (exchange) => {
      ctx.state = Object.assign(exchange, { routeOf: () => String(ctx._matchedRoute ?? 'none') });
      ctx.res.setHeader(REQUEST_ID_HEADER, exchange.httpRequestId);
      for (const [name, value] of headers) ctx.res.setHeader(name, value);
      await next();
      if (closing.aborted) ctx.set('Connection', 'close');
    }),
  );
  app.use(answerProblems(toProblem));
  app.use((ctx, next) => {
    const target = originForm(ctx.url);
    if (target === undefined) throw new Problem('INVALID_REQUEST', { detail: INVALID_TARGET });
    ctx.url = target;
    return next();
  });
  return app;
}

const INVALID_TARGET = 'The request target is neither a path nor an http URL.';
