import { type Limiter, limiterKey, take } from '../limits.ts';
import { rateLimited } from '../rate-limited.ts';

/** Takes a point for the name. Throws RATE_LIMITED when none is left. */
export async function demandRate(limiter: Limiter, name: string): Promise<void> {
  const { allowed, state } = await take(limiter, limiterKey(name));
  if (!allowed) throw rateLimited(limiter.points, state.msBeforeNext);
}
