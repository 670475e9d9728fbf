import type { Middleware } from 'koa';
import { traced, traceFields } from '../../platform/tracing.ts';
import { routeOf } from './log-requests.ts';

/** Creates a span per request, in the client's trace if it sent a traceparent. Named by the route, never by the path. */
export const traceRequests: Middleware = (ctx, next) => {
  const parent = ctx.get('traceparent') || null;
  return traced({ name: ctx.method, kind: 'SERVER', parent }, async (span) => {
    ctx.state.traceId = traceFields().traceId;
    await next();
    span?.updateName(`${ctx.method} ${routeOf(ctx)}`);
    span?.setAttribute('http.response.status_code', ctx.status);
  });
};
