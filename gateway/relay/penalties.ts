import type { Log } from '../../proto/log.ts';
import { growingPenalty } from '../growing-penalty.ts';
import { type Limits, limiterKey, take } from '../limits.ts';
import { Problem } from '../problem.ts';
import { rateLimited } from '../rate-limited.ts';

/** Limits of failed verifications. Valid traffic has buckets of its own and never meets them. */
export interface Penalties {
  /**
   * Before a verification. While the pair of sender and claimed merchant serves a penalty, a few a second may be verified: the sender
   * may share its address with a guesser. Throws RATE_LIMITED when there were more.
   */
  check(network: string, claimedMerchantId: string): Promise<void>;
  /** Counts a failure. Answers what the sender is told: UNAUTHENTICATED, or RATE_LIMITED when there were too many. */
  fail(network: string, claimedMerchantId: string): Promise<Problem>;
}

/** Guesses of one sender about one merchant. A merchant is never silenced by anybody's guesses elsewhere. */
const PAIR = { name: 'relay-failures-pair', points: 10, durationSeconds: 60 } as const;
/** Guesses of one sender about all merchants. */
const ADDRESS = { name: 'relay-failures-address', points: 100, durationSeconds: 60 } as const;
const LONGEST_PENALTY_SECONDS = 15 * 60;
/** Verifications of a pair that serves a penalty. At that pace nobody guesses 256 bits, and what verifies passes. */
const DURING_PENALTY = { name: 'relay-penalty-verifications', points: 100, durationSeconds: 1 } as const;

/** Opens the counts. */
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
    // One sender that names ever new merchants must not wash others' counts out of a bounded memory.
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
