import type { Log } from '../../platform/log.ts';
import { Problem, type ProblemDetails } from '../http/problem.ts';
import { type Limits, limiterKey, take } from '../limits/limits.ts';
import { openPenalties } from '../limits/penalties.ts';
import { rateLimited } from '../limits/rate-limit.ts';

export type Penalties = ReturnType<typeof createPenalties>;

/**
 * Failures of one address for one claim: a merchant or, of another sender, its senderId. Guesses from other addresses do
 * not affect a merchant's sender.
 */
const PAIR = { name: 'relay-failures-pair', points: 10, durationSeconds: 60 } as const;
/** Failures of one address for all claims. */
const ADDRESS = { name: 'relay-failures-address', points: 100, durationSeconds: 60 } as const;
/** Verifications of a pair during a penalty. At this rate 256 bits cannot be guessed, and valid notifications pass. */
const DURING_PENALTY = { name: 'relay-penalty-verifications', points: 100, durationSeconds: 1 } as const;
const PENALTIES = { failures: PAIR, duringPenalty: DURING_PENALTY, strikes: 'relay-strikes', longestSeconds: 15 * 60 };

/** Limits failed verifications. Valid notifications do not count. */
export function createPenalties(limits: Limits, log: Log) {
  const pairs = openPenalties(limits, PENALTIES);
  const addresses = limits.limiter(ADDRESS);
  return {
    /**
     * Runs before a verification. During a penalty of the address and the claim, some notifications per
     * second are still verified: the sender may share its address with a guesser. Throws RATE_LIMITED above that.
     */
    check: (network: string, claim: string) => pairs.check(limiterKey(network, claim)),
    /**
     * Counts a failure. Resolves with the answer: UNAUTHENTICATED with `unverified`, or RATE_LIMITED when there were too
     * many.
     */
    async fail(network: string, claim: string, unverified: ProblemDetails = UNVERIFIED): Promise<Problem> {
      const key = limiterKey(network, claim);
      const { allowed, state } = await take(addresses, limiterKey(network));
      const tooMany = allowed ? undefined : rateLimited(ADDRESS.points, state.msBeforeNext);
      // An address with ever new claims must not evict the counts of others from the bounded memory.
      if (tooMany !== undefined && !(await pairs.isCounted(key))) return tooMany;
      const refusal = await pairs.fail(key, (durationMs) =>
        log.warn('relay penalty', { address: network, claimedMerchantId: claim, durationMs }),
      );
      return refusal ?? tooMany ?? new Problem('UNAUTHENTICATED', unverified);
    },
  };
}

/** The same for a wrong signature and for a merchant that does not exist. */
const UNVERIFIED = {
  detail: 'X-Service-Signature does not prove that the merchant sent this notification.',
  headers: { 'WWW-Authenticate': 'X-Service-Signature' },
};
