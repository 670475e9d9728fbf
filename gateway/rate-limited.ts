import { Problem } from './problem.ts';

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
