import { randomUUID } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import type { Log } from '../../platform/log.ts';
import { traced, traceFields } from '../../platform/tracing.ts';

/**
 * The header of every answer that names the HTTP request. A repeated request has another one, unlike its operation's
 * requestId.
 */
export const REQUEST_ID_HEADER = 'X-Request-Id';

/**
 * Names each HTTP request, in the answer and in the log. The client's own X-Request-Id is taken when it is a UUID;
 * anything else may be long, secret or a card number, and is replaced.
 */
export const nameRequests: Middleware = (ctx, next) => {
  const given = ctx.get(REQUEST_ID_HEADER);
  ctx.state.httpRequestId = UUID.test(given) ? given : randomUUID();
  ctx.set(REQUEST_ID_HEADER, ctx.state.httpRequestId);
  return next();
};

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/**
 * Creates a span per request, in the client's trace if it sent a traceparent. Named by the route, never by the path.
 */
export const traceRequests: Middleware = (ctx, next) => {
  const parent = ctx.get('traceparent') || null;
  return traced({ name: ctx.method, kind: 'SERVER', parent }, async (span) => {
    ctx.state.traceId = traceFields().traceId;
    await next();
    span?.updateName(`${ctx.method} ${routeOf(ctx)}`);
    span?.setAttribute('http.response.status_code', ctx.status);
  });
};

/** Logs one line per request when its answer is sent or its client disconnects, then calls `onEnd`. */
export function logRequests(log: Log, onEnd: (ctx: Context, durationMs: number) => void): Middleware {
  return async (ctx, next) => {
    const startedMs = performance.now();
    ctx.res.once('close', () => {
      const durationMs = performance.now() - startedMs;
      log.info('request', {
        requestId: ctx.state.requestId,
        httpRequestId: ctx.state.httpRequestId,
        traceId: ctx.state.traceId,
        merchantId: ctx.state.merchantId,
        method: ctx.method,
        route: routeOf(ctx),
        status: ctx.status,
        durationMs: Math.round(durationMs),
        aborted: ctx.res.writableFinished ? undefined : true,
      });
      onEnd(ctx, durationMs);
    });
    await next();
  };
}

/** The pattern of the matching route. Paths are never logged, because they may contain anything. */
export function routeOf(ctx: Context): string {
  return typeof ctx._matchedRoute === 'string' ? ctx._matchedRoute : 'none';
}
