import type { Context, Middleware } from 'koa';
import { Problem } from '../http/problem.ts';
import { type Limiter, limiterKey, take } from './limits.ts';

/** Takes points for the name; resolves with the remaining ones. Throws RATE_LIMITED when too few are left. */
export async function demandRate(limiter: Limiter, name: string, points = 1) {
  const { allowed, state } = await take(limiter, limiterKey(name), points);
  if (!allowed) throw rateLimited(limiter.points, state.msBeforeNext);
  return state;
}

/** Limits the requests of each name, and gives the rest in the headers of every answer. Throws RATE_LIMITED. */
export function limitRate(limiter: Limiter, nameOf: (ctx: Context) => string): Middleware {
  return async (ctx, next) => {
    const { remainingPoints, msBeforeNext } = await demandRate(limiter, nameOf(ctx));
    ctx.set(headersOf(limiter.points, remainingPoints, Math.ceil(msBeforeNext / 1000)));
    await next();
  };
}

/** The refusal, with the headers that describe the limit. */
export function rateLimited(points: number, retryAfterMs: number, detail?: string): Problem {
  const retryAfterSeconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  return new Problem('RATE_LIMITED', { detail, retryAfterSeconds, headers: headersOf(points, 0, retryAfterSeconds) });
}

/** draft-ietf-httpapi-ratelimit-headers-06. */
function headersOf(points: number, remaining: number, resetSeconds: number): Record<string, string> {
  return {
    'RateLimit-Limit': String(points),
    'RateLimit-Remaining': String(remaining),
    'RateLimit-Reset': String(resetSeconds),
  };
}
