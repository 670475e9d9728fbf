import type { Middleware } from 'koa';
import { RateLimiterRes } from 'rate-limiter-flexible';
import { Problem } from '../problem.ts';
import { identityOf } from './authenticate.ts';

/** A limiter of rate-limiter-flexible, or what behaves like one. */
export interface RateLimiter {
  readonly points: number;
  consume(key: string): Promise<RateLimiterRes>;
}

/** Lets so many requests a second pass for each API key, and tells how many are left (draft-ietf-httpapi-ratelimit-headers-06). */
export function limitRate(limiter: RateLimiter): Middleware {
  return async (ctx, next) => {
    const { isWithin, left } = await take(limiter, identityOf(ctx).apiKeyHash);
    const resetSeconds = Math.ceil(left.msBeforeNext / 1000);
    const headers = {
      'RateLimit-Limit': String(limiter.points),
      'RateLimit-Remaining': String(Math.max(0, left.remainingPoints)),
      'RateLimit-Reset': String(resetSeconds),
    };
    if (!isWithin) throw new Problem('RATE_LIMITED', { retryAfterSeconds: left.msBeforeNext / 1000, headers });
    ctx.set(headers);
    await next();
  };
}

async function take(limiter: RateLimiter, key: string): Promise<{ isWithin: boolean; left: RateLimiterRes }> {
  try {
    return { isWithin: true, left: await limiter.consume(key) };
  } catch (error) {
    // The library rejects with this, not an Error, when the points are used up.
    if (!(error instanceof RateLimiterRes)) throw error;
    return { isWithin: false, left: error };
  }
}
