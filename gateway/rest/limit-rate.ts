import type { Middleware } from 'koa';
import { Problem } from '../http/problem.ts';
import { type Limiter, limiterKey, take } from '../limits/limits.ts';
import { identityOf } from './authenticate.ts';

/** Limits the requests per second of each API key, and sends the RateLimit headers (draft-ietf-httpapi-ratelimit-headers-06). */
export function limitRate(limiter: Limiter): Middleware {
  return async (ctx, next) => {
    const { allowed, state } = await take(limiter, limiterKey(identityOf(ctx).apiKeyHash));
    const headers = {
      'RateLimit-Limit': String(limiter.points),
      'RateLimit-Remaining': String(Math.max(0, state.remainingPoints)),
      'RateLimit-Reset': String(Math.ceil(state.msBeforeNext / 1000)),
    };
    if (!allowed) throw new Problem('RATE_LIMITED', { retryAfterSeconds: state.msBeforeNext / 1000, headers });
    ctx.set(headers);
    await next();
  };
}
