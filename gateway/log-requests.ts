import type { Middleware } from 'koa';
import type { Log } from './log.ts';

/** One line per request, when its answer is out or its client is gone. */
export function logRequests(log: Log): Middleware {
  return async (ctx, next) => {
    const startedMs = performance.now();
    ctx.res.once('close', () => {
      log.info('request', {
        requestId: ctx.state.requestId,
        merchantId: ctx.state.merchantId,
        method: ctx.method,
        route: typeof ctx._matchedRoute === 'string' ? ctx._matchedRoute : 'none',
        status: ctx.status,
        durationMs: Math.round(performance.now() - startedMs),
        aborted: ctx.res.writableFinished ? undefined : true,
      });
    });
    await next();
  };
}
