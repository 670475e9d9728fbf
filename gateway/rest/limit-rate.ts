import type { Middleware } from 'koa';
import { type Limiter, limiterKey, take } from '../limits.ts';
import { Problem } from '../problem.ts';
import { identityOf } from './authenticate.ts';

/** Lets so many requests a second pass for each API key, and tells how many are left (draft-ietf-httpapi-ratelimit-headers-06). */
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
