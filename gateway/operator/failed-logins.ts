import { type Limits, limiterKey, take } from '../limits.ts';
import type { Log } from '../log.ts';
import type { Problem } from '../problem.ts';
import { rateLimited } from '../rate-limited.ts';

/** Limits who may guess at the operator token. */
export interface FailedLogins {
  /** Throws RATE_LIMITED while the sender serves a penalty. */
  check(network: string): Promise<void>;
  /** Counts a wrong token. Answers RATE_LIMITED when there were too many, undefined before. */
  fail(network: string): Promise<Problem | undefined>;
}

const FAILURES = { name: 'operator-logins', points: 5, durationSeconds: 60 } as const;
/** How many penalties a sender has had; each is twice as long as the one before, until a day without memory. */
const STRIKES = { name: 'operator-strikes', points: 1_000_000, durationSeconds: 86_400 } as const;
const FIRST_PENALTY_SECONDS = 60;
const LONGEST_PENALTY_SECONDS = 60 * 60;

/** Opens the counts. */
export function createFailedLogins(limits: Limits, log: Log): FailedLogins {
  const failures = limits.limiter(FAILURES);
  const strikes = limits.limiter(STRIKES);
  return {
    check: async (network) => {
      const state = await failures.get(limiterKey(network));
      if (state && state.consumedPoints > FAILURES.points) throw rateLimited(FAILURES.points, state.msBeforeNext);
    },
    fail: async (network) => {
      const key = limiterKey(network);
      const { allowed, state } = await take(failures, key);
      log.warn('operator token refused', { address: network });
      if (allowed) return undefined;
      if (state.consumedPoints > FAILURES.points + 1) return rateLimited(FAILURES.points, state.msBeforeNext);
      const { consumedPoints } = await strikes.penalty(key);
      const seconds = Math.min(FIRST_PENALTY_SECONDS * 2 ** (consumedPoints - 1), LONGEST_PENALTY_SECONDS);
      await failures.block(key, seconds);
      log.warn('operator penalty', { address: network, durationMs: seconds * 1000 });
      return rateLimited(FAILURES.points, seconds * 1000);
    },
  };
}
