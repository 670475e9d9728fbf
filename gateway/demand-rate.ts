import { type Limiter, limiterKey, take } from './limits.ts';
import { rateLimited } from './rate-limited.ts';

/** Takes points for the name. Throws RATE_LIMITED when too few are left. */
export async function demandRate(limiter: Limiter, name: string, points = 1): Promise<void> {
  const { allowed, state } = await take(limiter, limiterKey(name), points);
  if (!allowed) throw rateLimited(limiter.points, state.msBeforeNext);
}
