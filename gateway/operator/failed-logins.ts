import type { Log } from '../../proto/log.ts';
import { growingPenalty } from '../growing-penalty.ts';
import { type Limits, limiterKey, take } from '../limits.ts';
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
const LONGEST_PENALTY_SECONDS = 60 * 60;

/** Opens the counts. */
export function createFailedLogins(limits: Limits, log: Log): FailedLogins {
  const failures = limits.limiter(FAILURES);
  const punish = growingPenalty(limits, 'operator-strikes', LONGEST_PENALTY_SECONDS);
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
      const durationMs = await punish(failures, key);
      log.warn('operator penalty', { address: network, durationMs });
      return rateLimited(FAILURES.points, durationMs);
    },
  };
}
