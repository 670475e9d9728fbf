import type { Middleware } from 'koa';
import { traced, traceFields } from '../proto/tracing.ts';
import { routeOf } from './log-requests.ts';

/** A span for each request, in the sender's trace if a traceparent came with it; named by its route, never its path. */
export const traceRequests: Middleware = (ctx, next) => {
  const parent = ctx.get('traceparent') || null;
  return traced({ name: ctx.method, kind: 'SERVER', parent }, async (span) => {
    ctx.state.traceId = traceFields().traceId;
    await next();
    span?.updateName(`${ctx.method} ${routeOf(ctx)}`);
    span?.setAttribute('http.response.status_code', ctx.status);
  });
};
