import { type Limiter, limiterKey, take } from '../limits.ts';
import { Problem } from '../problem.ts';

/** Takes a point for the name. Throws RATE_LIMITED when none is left. */
export async function demandRate(limiter: Limiter, name: string): Promise<void> {
  const { allowed, state } = await take(limiter, limiterKey(name));
  if (!allowed) throw rateLimited(limiter.points, state.msBeforeNext);
}

/** The refusal, with what may be told of the limit (draft-ietf-httpapi-ratelimit-headers-06). */
export function rateLimited(points: number, retryAfterMs: number): Problem {
  const retryAfterSeconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  const headers = {
    'RateLimit-Limit': String(points),
    'RateLimit-Remaining': '0',
    'RateLimit-Reset': String(retryAfterSeconds),
  };
  return new Problem('RATE_LIMITED', { retryAfterSeconds, headers });
}
