import assert from 'node:assert/strict';
import {
  booksOf,
  differsFromRest,
  failHold,
  settleCapture,
  settleExtension,
  settleIncrement,
  settleRelease,
} from '../domain/hold.ts';
import type { SubmissionKind } from '../domain/kinds.ts';
import { type FinalOutcome, isOk } from '../domain/operation.ts';
import { settleRefund } from '../domain/refund.ts';
import type { ReadHold } from '../storage/hold/read-holds.ts';
import type { SubmissionEnd } from '../storage/submission/settle-submissions.ts';
import { cardOf, type Ending, endInput, expiryOf, resultOf } from './result.ts';

/** The fields of a submission that its end needs; none of them changes. */
export interface SettledFields {
  readonly requestId: string;
  readonly holdRequestId?: string | null | undefined;
  /** Of a refund. */
  readonly captureRequestId?: string | null | undefined;
  /** Minor units. */
  readonly amount: bigint;
  readonly finalCapture?: boolean | null | undefined;
  readonly reported?: boolean | undefined;
  readonly merchantId: string;
  readonly currency: string;
  readonly terminalId?: string | null | undefined;
  readonly userId?: string | null | undefined;
  readonly merchantReference?: string | null | undefined;
}

type Reckon = (submission: SettledFields, hold: ReadHold | undefined, ending: Ending) => SubmissionEnd;

/** What an outcome makes of a submission and of the books of its hold, by kind. */
export const RECKON: Readonly<Record<SubmissionKind, Reckon>> = {
  CAPTURE(submission, onHold, ending) {
    const { requestId, amount, finalCapture } = submission;
    const hold = demand(onHold);
    const { outcome } = ending;
    const gaveBack = isOk(outcome) && (outcome.amountReleased ?? 0n) > 0n;
    const capture = { amount, finalCapture: finalCapture ?? false, gaveBack };
    return {
      ...endOnHold(submission, hold, ending),
      ...settleCapture(hold, capture, isOk(outcome)),
      again: isMadeAgain(hold, requestId, outcome),
      operation: resultOf(requestId, 'CAPTURE', subjectOn(hold, amount), ending),
    };
  },

  RELEASE: (submission, hold, ending) => reckonVoid('RELEASE', submission, demand(hold), ending),
  EXPIRY: (submission, hold, ending) => reckonVoid('EXPIRY', submission, demand(hold), ending),

  REFUND(submission, onHold, ending) {
    const { requestId, amount, captureRequestId } = submission;
    const hold = demand(onHold);
    assert(captureRequestId, 'a refund has a capture');
    const ok = isOk(ending.outcome);
    return {
      ...endOnHold(submission, hold, ending),
      ...settleRefund(hold, amount, ok),
      captureRequestId,
      amountReserved: amount,
      amountRefunded: ok ? amount : 0n,
      operation: resultOf(requestId, 'REFUND', { ...subjectOn(hold, amount), captureRequestId }, ending),
    };
  },

  /** The processor may let the authorization end earlier after it. */
  INCREMENT(submission, onHold, ending) {
    const { requestId, amount } = submission;
    const hold = demand(onHold);
    const { outcome, imported } = ending;
    const end = isOk(outcome) ? outcome.expiresAt : undefined;
    return {
      ...endOnHold(submission, hold, ending),
      ...settleIncrement(hold, amount, isOk(outcome), imported),
      ...ableTo(ending),
      expiresAt: end && hold.expiresAt && end < hold.expiresAt ? end.toISOString() : undefined,
      operation: resultOf(requestId, 'INCREMENT', subjectOn(hold, amount), ending),
    };
  },

  /** When the processor names no new end, the end has not changed. */
  EXTENSION(submission, onHold, ending) {
    const hold = demand(onHold);
    const { outcome, at } = ending;
    const there = isOk(outcome) ? outcome.expiresAt : undefined;
    const end = there && expiryOf(hold, at, there);
    const expiresAt = end && hold.expiresAt && end > hold.expiresAt ? end : hold.expiresAt;
    return {
      ...endOnHold(submission, hold, ending),
      ...settleExtension(hold),
      ...ableTo(ending),
      expiresAt: expiresAt?.toISOString(),
      operation: resultOf(submission.requestId, 'EXTENSION', { ...subjectOn(hold, 0n), expiresAt }, ending),
    };
  },

  /** It moves no counter, and makes no operation. */
  LATE_VOID(submission, onHold, ending) {
    const hold = demand(onHold);
    return { ...endOnHold(submission, hold, ending), ...booksOf(hold), ...givenBackBy(ending) };
  },

  OCT(submission, _, ending) {
    const { requestId, terminalId, userId } = submission;
    const subject = { ...submission, terminalId: terminalId ?? '', userId: userId ?? '', holdRequestId: undefined };
    const { outcome } = ending;
    return {
      ...endInput(requestId, ending),
      ...(isOk(outcome) && { bankReference: outcome.bankReference }),
      card: outcome.card,
      operation: resultOf(requestId, 'OCT', { ...subject, captureRequestId: undefined, notifyHolds: true }, ending),
    };
  },
};

/** What a hold captures by itself is sent again, under a new requestId, when it never arrived; a few times. */
function isMadeAgain(hold: ReadHold, requestId: string, outcome: FinalOutcome): boolean {
  const isLost = !isOk(outcome) && outcome.code === 'never_received';
  return isLost && hold.autoCaptureId === requestId && hold.autoCaptureCount < MOST_AUTO_CAPTURES;
}

const MOST_AUTO_CAPTURES = 3;

function reckonVoid(
  kind: 'RELEASE' | 'EXPIRY',
  submission: SettledFields,
  hold: ReadHold,
  ending: Ending,
): SubmissionEnd {
  if (hold.phase !== 'AUTHORIZED') return giveUp(kind, submission, hold, ending);
  const { requestId, amount: reservedAmount, reported = false } = submission;
  const ok = isOk(ending.outcome);
  const { amountReleased: givenBack } = givenBackBy(ending);
  const reason = kind === 'EXPIRY' ? 'EXPIRED' : 'RELEASED';
  const reserved = { amount: reservedAmount, reason, reported, givenBack } as const;
  // It was reserved with amount 0 while the checkout was open. The customer finished first, so the whole hold is given
  // back.
  const amount = givenBack ?? (reservedAmount === 0n ? hold.remaining : reservedAmount);
  // An expiry that failed has no result: the sweeper tries again, and no notification is sent.
  const hasResult = ok || kind === 'RELEASE';
  return {
    ...endOnHold(submission, hold, ending),
    ...settleRelease(hold, reserved, ok),
    amountReleased: givenBack,
    freezes: differsFromRest(hold, reserved),
    operation: hasResult ? resultOf(requestId, kind, subjectOn(hold, amount), ending) : undefined,
  };
}

/** A checkout that was cancelled or ran out. The hold was never placed, so its own operation ends as KO. */
function giveUp(kind: 'RELEASE' | 'EXPIRY', submission: SettledFields, hold: ReadHold, ending: Ending): SubmissionEnd {
  const { requestId } = submission;
  const end = { ...endOnHold(submission, hold, ending), ...givenBackBy(ending) };
  const ok = isOk(ending.outcome);
  if (!ok || hold.phase !== 'AWAITING_CHECKOUT') {
    const hasResult = !ok && kind === 'RELEASE';
    const operation = hasResult ? resultOf(requestId, 'RELEASE', subjectOn(hold, 0n), ending) : undefined;
    return { ...end, ...booksOf(hold), closing: false, operation };
  }
  const { code, message } = GIVEN_UP[kind];
  const failed = resultOf(hold.requestId, 'HOLD', hold, {
    ...ending,
    outcome: { answer: 'NOT_PERFORMED', code, message },
  });
  return {
    ...end,
    ...failHold(hold),
    failCode: code,
    failMessage: message,
    operation: { ...failed, subjectId: requestId },
  };
}

const GIVEN_UP = {
  EXPIRY: { code: 'checkout_expired', message: 'The checkout was not completed in time.' },
  RELEASE: { code: 'checkout_cancelled', message: 'The merchant cancelled the checkout.' },
} as const;

function endOnHold({ requestId }: SettledFields, { requestId: holdRequestId, version }: ReadHold, ending: Ending) {
  const bankReference = isOk(ending.outcome) ? ending.outcome.bankReference : undefined;
  return { ...endInput(requestId, ending), bankReference, holdRequestId, version };
}

/** What the authorization can do from now on, when the processor says it anew. */
function ableTo({ outcome }: Ending) {
  return { capabilities: isOk(outcome) ? outcome.capabilities : undefined };
}

function givenBackBy({ outcome }: Ending) {
  return { amountReleased: isOk(outcome) ? outcome.amountReleased : undefined };
}

function subjectOn(hold: ReadHold, amount: bigint) {
  return { ...hold, amount, card: cardOf(hold), holdRequestId: hold.requestId, captureRequestId: undefined };
}

function demand(hold: ReadHold | undefined): ReadHold {
  assert(hold, 'what is on a hold is settled with it');
  return hold;
}
