import type { Problem } from '../http/problem.ts';
import { type Limit, type Limits, take } from './limits.ts';
import { rateLimited } from './rate-limit.ts';

/** The number of failures that is too many, and the penalty. */
export interface PenaltyTerms {
  /** Failures of a key that are answered as such. One more begins a penalty. */
  readonly failures: Limit;
  /** The requests that are judged during a penalty: an honest sender may share its address with a guesser. */
  readonly duringPenalty: Limit;
  /** Names the counter of penalties. */
  readonly strikes: string;
  readonly longestSeconds: number;
}

const FIRST_SECONDS = 60;
const DAY_SECONDS = 86_400;

/**
 * Limits failures by key; successes do not count. Each penalty lasts twice as long as the key's last one, until a day
 * passes without one.
 */
export function openPenalties(limits: Limits, terms: PenaltyTerms) {
  const failures = limits.limiter(terms.failures);
  const duringPenalty = limits.limiter(terms.duringPenalty);
  const strikes = limits.limiter({ name: terms.strikes, points: 1_000_000, durationSeconds: DAY_SECONDS });
  const { points } = terms.failures;
  return {
    /** Returns whether the key has failed lately. */
    isCounted: async (key: string) => (await failures.get(key)) !== null,
    /** Must run before a credential is judged. Throws RATE_LIMITED above the limit of a penalty. */
    async check(key: string): Promise<void> {
      const state = await failures.get(key);
      if (state === null || state.consumedPoints <= points) return;
      const { allowed, state: budget } = await take(duringPenalty, key);
      if (!allowed) throw rateLimited(terms.duringPenalty.points, budget.msBeforeNext);
    },
    /**
     * Counts a failure. Resolves with RATE_LIMITED when there were too many, else undefined. Calls `onPenalty` when a
     * penalty begins.
     */
    async fail(key: string, onPenalty: (durationMs: number) => void): Promise<Problem | undefined> {
      const { allowed, state } = await take(failures, key);
      if (allowed) return undefined;
      if (state.consumedPoints > points + 1) return rateLimited(points, state.msBeforeNext);
      const { consumedPoints } = await strikes.penalty(key);
      const seconds = Math.min(FIRST_SECONDS * 2 ** (consumedPoints - 1), terms.longestSeconds);
      await failures.block(key, seconds);
      onPenalty(seconds * 1_000);
      return rateLimited(points, seconds * 1_000);
    },
  };
}
