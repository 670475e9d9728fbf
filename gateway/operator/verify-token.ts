/** Whether a token is the operators'. The gateway holds no such token: core judges. */
import { createHash } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import type { Core } from '../core.ts';
import { isServiceError, Problem } from '../problem.ts';
import type { FailedLogins } from './failed-logins.ts';

/**
 * Throws UNAUTHENTICATED for a wrong token, RATE_LIMITED for a sender of too many, and what core throws when it is away and has not
 * known the token lately. Without a sender nothing is counted: a session's token was right once, so it is no guess.
 */
export type VerifyToken = (token: string, network?: string) => Promise<void>;

/** For so long core is not asked again about a token that it has known. */
const KNOWN_MS = 10_000;
const MOST_KNOWN = 100;

/**
 * A right token is never locked out by wrong ones from its address: these are answered 429, and one that was right once is not even
 * counted among them. Only the very token is in that memory, so it helps no guesser. And it is good for as long as core is away,
 * which is when metrics matter most.
 */
export function createVerifyToken(
  core: Pick<Core, 'operators'>,
  failedLogins: FailedLogins,
  now: () => number = Date.now,
): VerifyToken {
  const known = new Map<string, number>();
  return async (token, network) => {
    const digest = createHash('sha256').update(token).digest('base64');
    const knownAtMs = known.get(digest);
    if (knownAtMs !== undefined && now() - knownAtMs < KNOWN_MS) return;
    const isToken = /^[\x21-\x7E]{32,256}$/.test(token);
    if (isToken && knownAtMs === undefined && network !== undefined) await failedLogins.check(network);
    const isOperators = isToken && (await ask(core, token, knownAtMs !== undefined));
    known.delete(digest);
    if (!isOperators) throw (network && (await failedLogins.fail(network))) || new Problem('UNAUTHENTICATED');
    known.set(digest, now());
    const [oldest] = known.keys();
    if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest);
  };
}

/** Another role's token is as wrong as none; while core is away, it stays as it was. */
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

/** Shorter than a scrape of the metrics may take. */
const TIMEOUT_MS = 5_000;
const NO: ReadonlySet<number> = new Set([status.UNAUTHENTICATED, status.PERMISSION_DENIED]);
const AWAY: ReadonlySet<number> = new Set([status.UNAVAILABLE, status.DEADLINE_EXCEEDED]);
