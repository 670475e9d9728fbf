import assert from 'node:assert/strict';
import { AGAIN } from '../../../platform/gather.ts';
import { traceParent } from '../../../platform/tracing.ts';
import { booksOf, differsFromRest, failHold, settleRelease } from '../domain/hold.ts';
import { isOk } from '../domain/operation.ts';
import type { Database, Query } from '../storage/database.ts';
import { type ReadHold, readHolds } from '../storage/hold/read-holds.ts';
import { findRelease, type ReleaseRow } from '../storage/release/release.ts';
import { type ReleaseResult, settleReleases } from '../storage/release/write-releases.ts';
import type { Books } from './books.ts';
import { cardOf, type End, type Ended, endColumns, endedOf, NOTHING_ENDED, resultOf } from './result.ts';

/**
 * Ends a release. Returns undefined when it had ended before; DIFFERS when the processor gave back something else than what our books had
 * left, which freezes the hold.
 */
export async function settleHoldRelease(books: Books, end: ReleaseEnd): Promise<'ENDED' | 'DIFFERS' | undefined> {
  const traced = { ...end, traceParent: traceParent() };
  const run = (database: Database) => reckonAndSettle(database, traced);
  const { changed, fault } = await books.end({ key: end.requestId, run });
  if (!changed) return undefined;
  return fault === 'DIFFERS' ? 'DIFFERS' : 'ENDED';
}

/** Reads the hold, calculates, and writes if the hold has not changed since. */
async function reckonAndSettle({ query }: Database, end: ReleaseEnd): Promise<Ended | typeof AGAIN> {
  const { release, hold } = await readRelease(query, end.requestId);
  if (release.state === 'OK' || release.state === 'KO') return NOTHING_ENDED;
  const result = releaseResult(release, hold, end);
  const settled = await settleReleases(query, [result]);
  if (!settled.locked.has(hold.requestId)) return AGAIN;
  const ended = result.operation ? endedOf(settled, result.operation) : NOTHING_ENDED;
  return { ...ended, changed: settled.changed.has(end.requestId), fault: result.freezes ? 'DIFFERS' : undefined };
}

/** How a release ended. */
export interface ReleaseEnd extends End {
  readonly requestId: string;
}

/** Reads the hold first: a release that ends afterwards changes it, and then nothing is written. */
async function readRelease(query: Query, requestId: string): Promise<{ release: ReleaseRow; hold: ReadHold }> {
  const known = await findRelease(query, requestId);
  assert(known, 'a release that is settled was reserved');
  const [hold] = await readHolds(query, [known.holdRequestId]);
  const release = await findRelease(query, requestId);
  assert(hold && release, 'a release has a hold');
  return { release, hold };
}

function releaseResult(release: ReleaseRow, hold: ReadHold, end: ReleaseEnd): ReleaseResult {
  const { outcome } = end;
  const ok = isOk(outcome);
  const givenBack = ok ? outcome.amountReleased : undefined;
  const common = {
    ...endColumns(release.requestId, end),
    amountReleased: givenBack,
    holdRequestId: hold.requestId,
    version: hold.version,
    fails: false,
    freezes: false,
    frozenAfter: hold.frozen,
  };
  if (release.reason === 'LATE') return { ...common, books: booksOf(hold) };
  if (hold.phase !== 'AUTHORIZED') return givenUp(common, release, hold, end);
  const kind = release.reason === 'EXPIRED' ? 'EXPIRY' : 'RELEASE';
  // It was reserved with amount 0 while the checkout was open. The customer finished first, so the whole hold is given back.
  const amount = givenBack ?? (release.amount === 0n ? hold.remaining : release.amount);
  const subject = { ...hold, amount, card: cardOf(hold), holdRequestId: hold.requestId };
  const reserved = { amount: release.amount, reason: release.reason, reported: release.reported, givenBack };
  // An expiry that failed has no result: the sweeper tries again, and no notification is sent.
  const told = ok || kind === 'RELEASE';
  return {
    ...common,
    books: settleRelease(hold, reserved, ok),
    freezes: differsFromRest(hold, reserved),
    frozenAfter: hold.frozen || differsFromRest(hold, reserved),
    operation: told ? resultOf(release.requestId, kind, subject, end) : undefined,
  };
}

/** Ends a checkout that was cancelled or ran out. The hold was never placed, so its own operation ends as KO. */
function givenUp(
  common: Omit<ReleaseResult, 'books'>,
  release: ReleaseRow,
  hold: ReadHold,
  end: ReleaseEnd,
): ReleaseResult {
  const ok = isOk(end.outcome);
  const stillOpen = hold.phase === 'AWAITING_CHECKOUT';
  if (!ok || !stillOpen) {
    const subject = { ...hold, amount: 0n, holdRequestId: hold.requestId };
    const told = !ok && release.reason === 'RELEASED';
    const operation = told ? resultOf(release.requestId, 'RELEASE', subject, end) : undefined;
    return { ...common, books: { ...booksOf(hold), closing: false }, operation };
  }
  const [code, message] =
    release.reason === 'EXPIRED'
      ? ['checkout_expired', 'The checkout was not completed in time.']
      : ['checkout_cancelled', 'The merchant cancelled the checkout.'];
  const operation = resultOf(hold.requestId, 'HOLD', hold, {
    ...end,
    outcome: { answer: 'NOT_PERFORMED', code, message },
  });
  return {
    ...common,
    processorCode: code,
    processorMessage: message,
    books: failHold(hold),
    fails: true,
    operation: { ...operation, subjectId: release.requestId },
  };
}
