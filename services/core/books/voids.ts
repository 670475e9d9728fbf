/** Voids give back the rest of a hold, or cancel what waits for its customer: releases and expiries. */
import { givenBackOtherwise } from '../domain/contradiction.ts';
import { holdAfter } from '../domain/hold-after.ts';
import { booksOf, failHold, isDueToEnd, isOpen } from '../domain/hold-rules.ts';
import { isOk } from '../domain/outcome.ts';
import type { RefusalCode } from '../domain/refusal.ts';
import { leftByRelease, settleRelease } from '../domain/release-rules.ts';
import type { WrittenHold } from '../storage/hold/hold-row.ts';
import type { KnownHold } from '../storage/hold/read-holds.ts';
import type { SubmissionEnd } from '../storage/submission/settle-submissions.ts';
import { type Ending, endOnHold, givenBackBy, resultOf, type SettledFields, subjectOn } from './operation-result.ts';
import type { Reservation } from './submission-request.ts';

/** The reservation of a void that cancels a checkout: nothing is held yet. */
export const CHECKOUT_CANCELLATION: Reservation = { amount: 0n, closing: true };

/**
 * A hold that ends by itself: at the end of its period, or because its authorization has ended at the processor, who
 * reported it.
 */
export function judgeEnd(
  hold: WrittenHold,
  as: 'RELEASED' | 'EXPIRED',
  reported: boolean,
  now: Date,
): RefusalCode | Reservation {
  const isReported = hold.endedAs != null;
  if (isReported !== reported || !isDueToEnd(hold, as, now)) return 'CAPTURE_IN_FLIGHT';
  const reservation = { amount: hold.remaining, closing: true };
  if (!reported) return reservation;
  return {
    ...reservation,
    reported,
    // The rest of a doubtful end is given back now, or was never missing.
    amountReleased: hold.endedReference == null ? (hold.endedAmount ?? 0n) + hold.remaining : hold.endedAmount,
    processorReference: hold.endedReference,
  };
}

/** The effect of a void's outcome on the void and on the books of its hold. */
export function reckonVoid(
  kind: 'RELEASE' | 'EXPIRY',
  submission: SettledFields,
  hold: KnownHold,
  ending: Ending,
): SubmissionEnd {
  if (hold.phase !== 'AUTHORIZED') return cancelCheckout(kind, submission, hold, ending);
  const { requestId, amount: reservedAmount, reported = false } = submission;
  const ok = isOk(ending.outcome);
  const givenBack = givenBackBy(ending.outcome);
  const reason = kind === 'EXPIRY' ? 'EXPIRED' : 'RELEASED';
  const reserved = { amount: reservedAmount, reason, reported, givenBack } as const;
  // It was reserved with amount 0 while the checkout was open. The customer finished first, so the whole hold is given
  // back.
  const amount = givenBack ?? (reservedAmount === 0n ? hold.remaining : reservedAmount);
  const books = settleRelease(hold, reserved, ok);
  // The missing amount may have been charged: the merchant is not told of the end before an operator has looked.
  const isDoubtful = ok && kind === 'EXPIRY' && isOpen(books);
  // An expiry that failed has no result: the sweeper tries again, and no notification is sent.
  const hasResult = kind === 'RELEASE' || (ok && !isDoubtful);
  const subject = subjectOn(hold, holdAfter(hold, books), amount, submission);
  return {
    ...endOnHold(submission, hold, ending),
    ...books,
    amountReleased: givenBack,
    contradicts: ok ? givenBackOtherwise('AMOUNT_RELEASED', givenBack, leftByRelease(hold, reserved)) : undefined,
    ...(isDoubtful && { endedAs: 'EXPIRED', endedAmount: givenBack }),
    operation: hasResult ? resultOf(requestId, kind, subject, ending) : undefined,
  };
}

/**
 * A checkout or authentication that was cancelled or ran out. The hold was never placed, so its own operation ends as
 * KO.
 */
function cancelCheckout(
  kind: 'RELEASE' | 'EXPIRY',
  submission: SettledFields,
  hold: KnownHold,
  ending: Ending,
): SubmissionEnd {
  const { requestId } = submission;
  const end = { ...endOnHold(submission, hold, ending), amountReleased: givenBackBy(ending.outcome) };
  const ok = isOk(ending.outcome);
  if (!ok || hold.phase !== 'AWAITING_CHECKOUT') {
    const hasResult = !ok && kind === 'RELEASE';
    const subject = subjectOn(hold, holdAfter(hold), 0n, submission);
    const operation = hasResult ? resultOf(requestId, 'RELEASE', subject, ending) : undefined;
    return { ...end, ...booksOf(hold), closing: false, operation };
  }
  const { code, message } = (hold.tokenId == null ? CHECKOUT_ENDS : STEP_UP_ENDS)[kind];
  const books = failHold(hold);
  const subject = { ...hold, after: holdAfter({ ...hold, phase: 'FAILED' }, books) };
  const outcome = { answer: 'NOT_PERFORMED', code, message } as const;
  const failed = resultOf(hold.requestId, 'HOLD', subject, { ...ending, outcome });
  return {
    ...end,
    ...books,
    failCode: code,
    failMessage: message,
    operation: { ...failed, subjectId: requestId },
  };
}

const CHECKOUT_ENDS = {
  EXPIRY: { code: 'checkout_expired', message: 'The checkout was not completed in time.' },
  RELEASE: { code: 'checkout_cancelled', message: 'The merchant cancelled the checkout.' },
} as const;

const STEP_UP_ENDS = {
  EXPIRY: { code: 'authentication_expired', message: 'The customer was not authenticated in time.' },
  RELEASE: { code: 'authentication_cancelled', message: 'The merchant cancelled the authentication.' },
} as const;
