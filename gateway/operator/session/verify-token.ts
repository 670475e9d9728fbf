/** Verifies operator tokens. The gateway has no copy of the token: core verifies it. */
import { createHash } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import type { Log } from '../../../platform/log.ts';
import type { Core } from '../../core/client.ts';
import { isServiceError, Problem } from '../../http/problem.ts';
import { type Limits, limiterKey } from '../../limits/limits.ts';
import { openPenalties } from '../../limits/penalties.ts';

/**
 * Throws UNAUTHENTICATED for a wrong token, RATE_LIMITED after too many of them, and what core throws when it is
 * unavailable and has not verified the token recently. Without a network nothing is counted: a session's token was
 * right once, so it is no guess.
 */
export type VerifyToken = (token: string, network?: string) => Promise<void>;

/** A verified token is verified again after this time. */
const KNOWN_MS = 10_000;

/**
 * Wrong tokens from an address never lock out the right one: it is still verified during a penalty, and a token that
 * was right before is not counted as a guess. It stays valid while core is unavailable, which is when metrics matter
 * most.
 */
export function createVerifyToken(
  core: Pick<Core, 'operators'>,
  limits: Limits,
  log: Log,
  now: () => number = Date.now,
): VerifyToken {
  const guesses = openPenalties(limits, GUESSES);
  /** Only tokens that core has verified, of which there are few. */
  const known = new Map<string, number>();

  /** Counts a wrong token. Resolves with UNAUTHENTICATED, or RATE_LIMITED when there were too many. */
  async function refuse(network: string | undefined): Promise<Problem> {
    const wrong = new Problem('UNAUTHENTICATED', { detail: 'The operator token is wrong.' });
    if (network === undefined) return wrong;
    log.warn('operator token refused', { address: network });
    const onPenalty = (durationMs: number) => log.warn('operator penalty', { address: network, durationMs });
    return (await guesses.fail(limiterKey(network), onPenalty)) ?? wrong;
  }

  return async (token, network) => {
    const digest = createHash('sha256').update(token).digest('base64');
    const knownAtMs = known.get(digest);
    if (knownAtMs !== undefined && now() - knownAtMs < KNOWN_MS) return;
    const isToken = /^[\x21-\x7E]{32,256}$/.test(token);
    if (isToken && knownAtMs === undefined && network !== undefined) await guesses.check(limiterKey(network));
    const isOperators = isToken && (await ask(core, token, knownAtMs !== undefined));
    known.delete(digest);
    if (!isOperators) throw await refuse(network);
    known.set(digest, now());
  };
}

/** A token of another role is wrong. While core is unavailable, a token that was verified before stays valid. */
async function ask(core: Pick<Core, 'operators'>, token: string, wasKnown: boolean): Promise<boolean> {
  try {
    await core.operators.checkOperator({}, { timeoutMs: TIMEOUT_MS, metadata: { authorization: `Bearer ${token}` } });
    return true;
  } catch (error) {
    if (isServiceError(error) && NO.has(error.code)) return false;
    if (isServiceError(error) && AWAY.has(error.code) && wasKnown) return true;
    throw error;
  }
}

/** Less than the timeout of a metrics scrape. */
const TIMEOUT_MS = 5_000;
const NO: ReadonlySet<number> = new Set([status.UNAUTHENTICATED, status.PERMISSION_DENIED]);
const AWAY: ReadonlySet<number> = new Set([status.UNAVAILABLE, status.DEADLINE_EXCEEDED]);

/** Limits guesses at the operator token, by network. */
export const GUESSES = {
  failures: { name: 'operator-logins', points: 5, durationSeconds: 60 },
  /** At this rate 32 random characters cannot be guessed. */
  duringPenalty: { name: 'operator-penalty-tokens', points: 100, durationSeconds: 1 },
  strikes: 'operator-strikes',
  longestSeconds: 60 * 60,
} as const;
