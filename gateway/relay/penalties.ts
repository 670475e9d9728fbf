import type { Log } from '../../platform/log.ts';
import { Problem } from '../http/problem.ts';
import { growingPenalty } from '../limits/growing-penalty.ts';
import { type Limits, limiterKey, take } from '../limits/limits.ts';
import { rateLimited } from '../limits/rate-limit.ts';

/** Limits failed verifications. Valid notifications do not count. */
export interface Penalties {
  /**
   * Runs before a verification. During a penalty of the sender and the claimed merchant, some notifications per second are still verified: the
   * sender may share its address with a guesser. Throws RATE_LIMITED above that.
   */
  check(network: string, claimedMerchantId: string): Promise<void>;
  /** Counts a failure. Resolves with the answer: UNAUTHENTICATED, or RATE_LIMITED when there were too many. */
  fail(network: string, claimedMerchantId: string): Promise<Problem>;
}

/** Failures of one sender for one merchant. Guesses from other addresses do not affect a merchant's sender. */
const PAIR = { name: 'relay-failures-pair', points: 10, durationSeconds: 60 } as const;
/** Failures of one sender for all merchants. */
const ADDRESS = { name: 'relay-failures-address', points: 100, durationSeconds: 60 } as const;
const LONGEST_PENALTY_SECONDS = 15 * 60;
/** Verifications of a pair during a penalty. At this rate 256 bits cannot be guessed, and valid notifications pass. */
const DURING_PENALTY = { name: 'relay-penalty-verifications', points: 100, durationSeconds: 1 } as const;

/** Opens the limiters. */
export function createPenalties(limits: Limits, log: Log): Penalties {
  const pairs = limits.limiter(PAIR);
  const addresses = limits.limiter(ADDRESS);
  const duringPenalty = limits.limiter(DURING_PENALTY);
  const punish = growingPenalty(limits, 'relay-strikes', LONGEST_PENALTY_SECONDS);

  async function check(network: string, claimedMerchantId: string): Promise<void> {
    const key = limiterKey(network, claimedMerchantId);
    const state = await pairs.get(key);
    if (state === null || state.consumedPoints <= PAIR.points) return;
    const { allowed, state: budget } = await take(duringPenalty, key);
    if (!allowed) throw rateLimited(DURING_PENALTY.points, budget.msBeforeNext);
  }

  async function fail(network: string, claimedMerchantId: string): Promise<Problem> {
    const key = limiterKey(network, claimedMerchantId);
    const ofAddress = await take(addresses, limiterKey(network));
    const tooMany = ofAddress.allowed ? undefined : rateLimited(ADDRESS.points, ofAddress.state.msBeforeNext);
    // A sender that claims ever new merchants must not evict the counts of others from the bounded memory.
    if (tooMany !== undefined && (await pairs.get(key)) === null) return tooMany;
    const ofPair = await take(pairs, key);
    if (ofPair.allowed) return tooMany ?? unverified();
    if (ofPair.state.consumedPoints > PAIR.points + 1) return rateLimited(PAIR.points, ofPair.state.msBeforeNext);
    const durationMs = await punish(pairs, key);
    log.warn('relay penalty', { address: network, claimedMerchantId, durationMs });
    return rateLimited(PAIR.points, durationMs);
  }

  return { check, fail };
}

/** One answer for a wrong signature and for a merchant that does not exist. */
function unverified(): Problem {
  return new Problem('UNAUTHENTICATED', {
    detail: 'X-Service-Signature does not prove that the merchant sent this notification.',
    headers: { 'WWW-Authenticate': 'X-Service-Signature' },
  });
}
