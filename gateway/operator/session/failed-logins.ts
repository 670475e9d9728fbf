import type { Log } from '../../../platform/log.ts';
import type { Problem } from '../../http/problem.ts';
import { growingPenalty } from '../../limits/growing-penalty.ts';
import { type Limits, limiterKey, take } from '../../limits/limits.ts';
import { rateLimited } from '../../limits/rate-limit.ts';

/** Limits guesses at the operator token. */
export interface FailedLogins {
  /**
   * Runs before a token is verified. During a penalty some tokens per second are still verified, because the right one may come from the same
   * address as the guesses. Throws RATE_LIMITED above that.
   */
  check(network: string): Promise<void>;
  /** Counts a wrong token. Resolves with RATE_LIMITED when there were too many, else undefined. */
  fail(network: string): Promise<Problem | undefined>;
}

const FAILURES = { name: 'operator-logins', points: 5, durationSeconds: 60 } as const;
const LONGEST_PENALTY_SECONDS = 60 * 60;
/** Tokens verified during a penalty. At this rate 32 random characters cannot be guessed. */
const DURING_PENALTY = { name: 'operator-penalty-tokens', points: 100, durationSeconds: 1 } as const;

/** Opens the limiters. */
export function createFailedLogins(limits: Limits, log: Log): FailedLogins {
  const failures = limits.limiter(FAILURES);
  const duringPenalty = limits.limiter(DURING_PENALTY);
  const punish = growingPenalty(limits, 'operator-strikes', LONGEST_PENALTY_SECONDS);
  return {
    check: async (network) => {
      const key = limiterKey(network);
      const state = await failures.get(key);
      if (state === null || state.consumedPoints <= FAILURES.points) return;
      const { allowed, state: budget } = await take(duringPenalty, key);
      if (!allowed) throw rateLimited(DURING_PENALTY.points, budget.msBeforeNext);
    },
    fail: async (network) => {
      const key = limiterKey(network);
      const { allowed, state } = await take(failures, key);
      log.warn('operator token refused', { address: network });
      if (allowed) return undefined;
      if (state.consumedPoints > FAILURES.points + 1) return rateLimited(FAILURES.points, state.msBeforeNext);
      const durationMs = await punish(failures, key);
      log.warn('operator penalty', { address: network, durationMs });
      return rateLimited(FAILURES.points, durationMs);
    },
  };
}
