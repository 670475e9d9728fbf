import assert from 'node:assert/strict';
import { AGAIN } from '../../../platform/gather.ts';
import { traceParent } from '../../../platform/tracing.ts';
import { booksOf, differsFromRest, failHold, settleRelease } from '../domain/hold.ts';
import { type FinalOutcome, isOk } from '../domain/operation.ts';
import type { Database, Query } from '../storage/database.ts';
import { type ReadHold, readHolds } from '../storage/hold/read-holds.ts';
import { findRelease, type ReleaseRow } from '../storage/release/release.ts';
import { type ReleaseResult, settleReleases } from '../storage/release/write-releases.ts';
import type { Books } from './books.ts';
import type { Ended } from './outcomes.ts';
import { cardOf, endedOf, outcomeColumns, resultOf } from './result.ts';

/**
 * Ends a release. Returns undefined when it had ended before; DIFFERS when the processor gave back something else than what our books had
 * left, which freezes the hold.
 */
export async function settleHoldRelease(books: Books, end: ReleaseEnd): Promise<'ENDED' | 'DIFFERS' | undefined> {
  let freezes = false;
  const run = async (database: Database) => {
    const { ended, result } = await reckonAndSettle(database, end);
    freezes = result?.freezes ?? false;
    return ended;
  };
  if (!(await books.end({ key: end.requestId, run }))) return undefined;
  return freezes ? 'DIFFERS' : 'ENDED';
}

/** Reads the hold, calculates, and writes if the hold has not changed since. */
async function reckonAndSettle(
  { query }: Database,
  { requestId, outcome, at }: ReleaseEnd,
): Promise<{ readonly ended: Ended | typeof AGAIN; readonly result?: ReleaseResult }> {
  const { release, hold } = await readRelease(query, requestId);
  if (release.state === 'OK' || release.state === 'KO') return { ended: { changed: false, deliveries: [] } };
  const result = releaseResult(release, hold, outcome, at);
  const settled = await settleReleases(query, [result]);
  if (!settled.locked.has(hold.requestId)) return { ended: AGAIN };
  const ended = result.operation ? endedOf(settled, result.operation) : { deliveries: [] };
  return { ended: { ...ended, changed: settled.changed.has(requestId) }, result };
}

/** How a release ended. */
export interface ReleaseEnd {
  readonly requestId: string;
  readonly outcome: FinalOutcome;
  readonly at: Date;
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

function releaseResult(release: ReleaseRow, hold: ReadHold, outcome: FinalOutcome, at: Date): ReleaseResult {
  const { card: _, ...columns } = { card: undefined, ...outcomeColumns(outcome) };
  const ok = isOk(outcome);
  const givenBack = isOk(outcome) ? outcome.amountReleased : undefined;
  const common = {
    ...columns,
    amountReleased: givenBack,
    requestId: release.requestId,
    holdRequestId: hold.requestId,
    version: hold.version,
    ok,
    at: at.toISOString(),
  };
  if (release.reason === 'LATE') return { ...common, books: booksOf(hold), fails: false, freezes: false };
  if (hold.phase !== 'AUTHORIZED') return givenUp(common, release, hold, outcome, at);
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
    fails: false,
    freezes: differsFromRest(hold, reserved),
    operation: told ? resultOf(release.requestId, kind, subject, outcome, at, traceParent()) : undefined,
  };
}

/** Ends a checkout that was cancelled or ran out. The hold was never placed, so its own operation ends as KO. */
function givenUp(
  common: Omit<ReleaseResult, 'books' | 'fails' | 'freezes'>,
  release: ReleaseRow,
  hold: ReadHold,
  outcome: FinalOutcome,
  at: Date,
): ReleaseResult {
  const ok = isOk(outcome);
  const stillOpen = hold.phase === 'AWAITING_CHECKOUT';
  if (!ok || !stillOpen) {
    const subject = { ...hold, amount: 0n, holdRequestId: hold.requestId };
    const told = !ok && release.reason === 'RELEASED';
    const operation = told ? resultOf(release.requestId, 'RELEASE', subject, outcome, at) : undefined;
    return { ...common, books: { ...booksOf(hold), closing: false }, fails: false, freezes: false, operation };
  }
  const refusal: FinalOutcome =
    release.reason === 'EXPIRED'
      ? { answer: 'NOT_PERFORMED', code: 'checkout_expired', message: 'The checkout was not completed in time.' }
      : { answer: 'NOT_PERFORMED', code: 'checkout_cancelled', message: 'The merchant cancelled the checkout.' };
  const operation = resultOf(hold.requestId, 'HOLD', hold, refusal, at, traceParent());
  return {
    ...common,
    processorCode: refusal.code,
    processorMessage: refusal.message,
    books: failHold(hold),
    fails: true,
    freezes: false,
    operation: { ...operation, subjectId: release.requestId },
  };
}
