import {
  type Change,
  isDueToEnd,
  isOpen,
  judgeAutoCapture,
  judgeCapture,
  judgeExtension,
  judgeIncrement,
  judgeRelease,
} from '../domain/hold.ts';
import type { KindOnHold } from '../domain/kinds.ts';
import { judgeRefund } from '../domain/refund.ts';
import type { RefusalCode } from '../domain/refusal.ts';
import type { HoldRow } from '../storage/hold/hold-row.ts';
import type { SubmissionInput } from '../storage/submission/store-submissions.ts';
import type { SubmissionRow } from '../storage/submission/submission-row.ts';
import type { HoldRequest } from './request.ts';

/** What is stored of a request, and what it does to the hold or its captures until it has its result. */
export interface Reservation
  extends Pick<
    SubmissionInput,
    'finalCapture' | 'automatic' | 'reported' | 'amountReleased' | 'processorReference' | 'fromReleased'
  > {
  /** Minor units; reserved on the hold when its kind does so. */
  readonly amount: bigint;
  /** Whether nothing else may be captured until it has its result. */
  readonly closing: boolean;
  /** It is an increment or an extension. */
  readonly changing?: Change;
}

type Judge = (hold: HoldRow, request: HoldRequest, capture: SubmissionRow | undefined) => RefusalCode | Reservation;

/** How requests on a hold are judged, by kind. */
export const JUDGE: Readonly<Record<KindOnHold, Judge>> = {
  CAPTURE(hold, { amount = 0n, finalCapture = false, imported = false, automatic = false, at }) {
    if (automatic) {
      const refusal = judgeAutoCapture(hold, at);
      return refusal ?? { amount: hold.remaining, finalCapture: true, automatic, closing: true };
    }
    if (imported) return judgeImported(hold, amount, finalCapture);
    const refusal = judgeCapture(hold, { amount, finalCapture }, at);
    return refusal ?? { amount, finalCapture, closing: finalCapture || !hold.allowMultipleCaptures };
  },

  /** A checkout that is open has nothing to give back, and is cancelled. */
  RELEASE(hold, { reported, at }) {
    if (reported) return judgeEnd(hold, 'RELEASED', true, at);
    if (hold.phase === 'AWAITING_CHECKOUT') return hold.closing ? 'CAPTURE_IN_FLIGHT' : GIVEN_UP;
    return judgeRelease(hold, at) ?? { amount: hold.remaining, closing: true };
  },

  EXPIRY(hold, { reported = false, at }) {
    if (hold.phase !== 'AWAITING_CHECKOUT') return judgeEnd(hold, 'EXPIRED', reported, at);
    if (hold.closing) return 'CAPTURE_IN_FLIGHT';
    const isOver = hold.checkoutExpiresAt != null && hold.checkoutExpiresAt <= at;
    return isOver ? GIVEN_UP : 'HOLD_NOT_PLACED';
  },

  REFUND(hold, { amount, imported = false }, capture) {
    if (capture?.holdRequestId !== hold.requestId) return 'CAPTURE_NOT_FOUND';
    // What is imported was done, although the hold is frozen since.
    const judgement = judgeRefund(imported ? { ...hold, frozen: false } : hold, capture, amount);
    return typeof judgement === 'string' ? judgement : { ...judgement, closing: hold.closing };
  },

  INCREMENT(hold, { amount = 0n, imported, at }) {
    const refusal = imported ? judgeImportedChange(hold) : judgeIncrement(hold, amount, at);
    return refusal ?? { amount, closing: false, changing: 'INCREMENT' };
  },

  EXTENSION(hold, { imported, at }) {
    const refusal = imported ? judgeImportedChange(hold) : judgeExtension(hold, at);
    return refusal ?? { amount: 0n, closing: false, changing: 'EXTENSION' };
  },

  LATE_VOID: (hold) => (hold.phase === 'FAILED' ? { amount: 0n, closing: false } : 'HOLD_CAPTURED'),
};

/**
 * A capture that the processor has done already. When the hold has ended here, what counts as released was charged in
 * truth.
 */
function judgeImported(hold: HoldRow, amount: bigint, finalCapture: boolean): RefusalCode | Reservation {
  if (hold.phase !== 'AUTHORIZED') return 'HOLD_NOT_PLACED';
  if (hold.closing) return 'CAPTURE_IN_FLIGHT';
  const room = isOpen(hold) ? hold.remaining : hold.released;
  if (amount > room) return amount <= room + hold.inFlight ? 'CAPTURE_IN_FLIGHT' : 'AMOUNT_EXCEEDS_HOLD';
  return { amount, finalCapture, closing: finalCapture || !hold.allowMultipleCaptures, fromReleased: !isOpen(hold) };
}

/** The processor has done it, whatever became of the hold here. */
function judgeImportedChange({ phase, closing, changing }: HoldRow): RefusalCode | undefined {
  if (phase !== 'AUTHORIZED') return 'HOLD_NOT_PLACED';
  return closing || changing != null ? 'CAPTURE_IN_FLIGHT' : undefined;
}

const GIVEN_UP: Reservation = { amount: 0n, closing: true };

/**
 * A hold that ends by itself: at the end of its period, or because its authorization has ended at the processor, who
 * reported it.
 */
function judgeEnd(hold: HoldRow, as: 'RELEASED' | 'EXPIRED', reported: boolean, now: Date): RefusalCode | Reservation {
  const isReported = hold.endedAs != null;
  if (isReported !== reported || !isDueToEnd(hold, as, now)) return 'CAPTURE_IN_FLIGHT';
  const reservation = { amount: hold.remaining, closing: true };
  if (!reported) return reservation;
  return {
    ...reservation,
    reported,
    amountReleased: hold.endedAmount?.toString(),
    processorReference: hold.endedReference ?? undefined,
  };
}
