import { Problem } from '../http/problem.ts';
import { type Limiter, limiterKey, take } from './limits.ts';

/** Takes points for the name. Throws RATE_LIMITED when too few are left. */
export async function demandRate(limiter: Limiter, name: string, points = 1): Promise<void> {
  const { allowed, state } = await take(limiter, limiterKey(name), points);
  if (!allowed) throw rateLimited(limiter.points, state.msBeforeNext);
}

/** The refusal, with the headers that describe the limit (draft-ietf-httpapi-ratelimit-headers-06). */
export function rateLimited(points: number, retryAfterMs: number, detail?: string): Problem {
  const retryAfterSeconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  const headers = {
    'RateLimit-Limit': String(points),
    'RateLimit-Remaining': '0',
    'RateLimit-Reset': String(retryAfterSeconds),
  };
  return new Problem('RATE_LIMITED', { detail, retryAfterSeconds, headers });
}
