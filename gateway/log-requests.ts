import type { Context, Middleware } from 'koa';
import type { Log } from '../proto/log.ts';

/** One line per request, when its answer is out or its client is gone; then `onEnd` hears of it. Time in which it was held back is not its own. */
export function logRequests(log: Log, onEnd: (ctx: Context, durationMs: number) => void): Middleware {
  return async (ctx, next) => {
    const startedMs = performance.now();
    ctx.res.once('close', () => {
      const durationMs = Math.max(0, performance.now() - startedMs - (ctx.state.heldMs ?? 0));
      log.info('request', {
        requestId: ctx.state.requestId,
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

/** The pattern that matched, so that a path, which may hold anything, is never written anywhere. */
export function routeOf(ctx: Context): string {
  return typeof ctx._matchedRoute === 'string' ? ctx._matchedRoute : 'none';
}
