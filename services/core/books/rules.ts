import assert from 'node:assert/strict';
import { judgeAutoCapture, judgeCapture, leftByCapture, settleCapture } from '../domain/capture-rules.ts';
import { judgeExtension, judgeIncrement, settleExtension, settleIncrement } from '../domain/change-rules.ts';
import { givenBackOtherwise } from '../domain/contradiction.ts';
import { holdAfter } from '../domain/hold-after.ts';
import { booksOf, isOpen } from '../domain/hold-rules.ts';
import {
  authorizationOf,
  judgeImportedRenewal,
  judgeKeeping,
  OVERTAKEN,
  renewalAfter,
  takesOver,
} from '../domain/kept-hold.ts';
import type { KindOnHold } from '../domain/kinds.ts';
import { type FinalOutcome, isOk } from '../domain/outcome.ts';
import { judgeImportedRefund, judgeRefund, settleRefund } from '../domain/refund-rules.ts';
import type { RefusalCode } from '../domain/refusal.ts';
import { judgeImportedPart, judgePartialRelease, judgeRelease, settlePartialRelease } from '../domain/release-rules.ts';
import type { WrittenHold } from '../storage/hold/hold-row.ts';
import type { KnownHold } from '../storage/hold/read-holds.ts';
import type { SubmissionEnd } from '../storage/submission/settle-submissions.ts';
import type { SubmissionRow } from '../storage/submission/submission-row.ts';
import {
  type Ending,
  earlier,
  endOnHold,
  expiryOf,
  givenBackBy,
  guaranteeOf,
  resultOf,
  type SettledFields,
  subjectOn,
} from './operation-result.ts';
import type { HoldRequest, Reservation } from './submission-request.ts';
import { CHECKOUT_CANCELLATION, judgeEnd, reckonVoid } from './voids.ts';

/** The effect of a kind on the books of its hold. */
interface Rules {
  /** Returns the reservation of a request, or the reason of its refusal. `capture` is the one that a refund names. */
  judge(hold: WrittenHold, request: HoldRequest, capture: SubmissionRow | undefined): RefusalCode | Reservation;
  /** Returns what an outcome makes of a submission and of the books. */
  reckon(submission: SettledFields, hold: KnownHold, ending: Ending): SubmissionEnd;
}

/** The rules of submissions on a hold, by kind. */
export const RULES: Readonly<Record<KindOnHold, Rules>> = {
  CAPTURE: {
    judge(hold, { amount = 0n, finalCapture = false, imported = false, automatic = false, at }) {
      if (automatic) {
        const refusal = judgeAutoCapture(hold, at);
        return refusal ?? { amount: hold.remaining, finalCapture: true, automatic, closing: true };
      }
      if (imported) return judgeImported(hold, amount, finalCapture);
      const refusal = judgeCapture(hold, { amount, finalCapture }, at);
      return refusal ?? { amount, finalCapture, closing: finalCapture || !hold.allowMultipleCaptures };
    },
    reckon(submission, hold, ending) {
      const { requestId, amount, finalCapture } = submission;
      const { outcome, imported } = ending;
      const ok = isOk(outcome);
      const rest = hold.remaining;
      // Captures of a hold are imported one by one. The remaining amount is compared once all of them are.
      const said = givenBackBy(outcome);
      const givenBack = imported ? ((said ?? 0n) > 0n ? rest : undefined) : said;
      const capture = { amount, finalCapture: finalCapture ?? false, givenBack };
      const left = ok ? leftByCapture(hold, capture) : undefined;
      const books = settleCapture(hold, capture, ok);
      const subject = subjectOn(hold, holdAfter(hold, books), amount, submission);
      return {
        ...endOnHold(submission, hold, ending),
        ...books,
        amountReleased: said,
        contradicts: left && givenBackOtherwise('AMOUNT_RELEASED', givenBack, left),
        again: isMadeAgain(hold, requestId, outcome),
        operation: resultOf(requestId, 'CAPTURE', subject, ending),
      };
    },
  },

  RELEASE: {
    /**
     * A checkout that is open has nothing to give back, and is cancelled. What is imported was done, although the hold
     * is frozen since.
     */
    judge(hold, { amount, reported, imported = false, at }) {
      if (reported) return judgeEnd(hold, 'RELEASED', true, at);
      if (hold.phase === 'AWAITING_CHECKOUT') return hold.closing ? 'CAPTURE_IN_FLIGHT' : CHECKOUT_CANCELLATION;
      const refusal = judgeRelease(imported ? { ...hold, frozen: false, captureAt: null } : hold, at, amount);
      return refusal ?? { amount: hold.remaining, closing: true };
    },
    reckon: (submission, hold, ending) => reckonVoid('RELEASE', submission, hold, ending),
  },

  PARTIAL_RELEASE: {
    judge(hold, { amount = 0n, imported, at }) {
      const refusal = imported ? judgeImportedPart(hold, amount) : judgePartialRelease(hold, amount, at);
      return refusal ?? { amount, closing: true, fromReleased: !isOpen(hold) };
    },
    reckon(submission, hold, ending) {
      const { requestId, amount } = submission;
      const ok = isOk(ending.outcome);
      const books = settlePartialRelease(hold, amount, ok);
      const subject = subjectOn(hold, holdAfter(hold, books), amount, submission);
      return {
        ...endOnHold(submission, hold, ending),
        ...books,
        ...ableTo(ending.outcome),
        amountReleased: ok ? amount : undefined,
        operation: resultOf(requestId, 'PARTIAL_RELEASE', subject, ending),
      };
    },
  },

  EXPIRY: {
    judge(hold, { reported = false, imported = false, at }) {
      if (hold.phase !== 'AWAITING_CHECKOUT') {
        return judgeEnd(imported ? { ...hold, captureAt: null } : hold, 'EXPIRED', reported, at);
      }
      if (hold.closing) return 'CAPTURE_IN_FLIGHT';
      const isOver = hold.checkoutExpiresAt != null && hold.checkoutExpiresAt <= at;
      return isOver ? CHECKOUT_CANCELLATION : 'HOLD_NOT_PLACED';
    },
    reckon: (submission, hold, ending) => reckonVoid('EXPIRY', submission, hold, ending),
  },

  /**
   * What remains is authorized anew. When that is the hold's authorization now, the one before is given back; when the
   * hold changed meanwhile, the new one is, and the merchant is told nothing.
   */
  RENEWAL: {
    judge(hold, { amount = hold.remaining, imported, at }) {
      const refusal = imported ? judgeImportedRenewal(hold) : judgeKeeping(hold, at);
      return refusal ?? { amount, closing: hold.closing };
    },
    reckon(submission, hold, ending) {
      const { requestId, amount } = submission;
      const { outcome, at } = ending;
      const books = booksOf(hold);
      const isNew = takesOver(hold, submission, outcome);
      const expiresAt = isOk(outcome) ? expiryOf(hold, at, outcome.expiresAt) : undefined;
      const guaranteedUntil = (isOk(outcome) && expiresAt && guaranteeOf(outcome, expiresAt)) || null;
      const again = renewalAfter(hold, submission, outcome, at, guaranteedUntil ?? expiresAt);
      const renewAt = again === null ? 'infinity' : again?.toISOString();
      if (isOk(outcome) && !isNew) {
        const end = endOnHold(submission, hold, { ...ending, outcome: OVERTAKEN });
        return { ...end, ...books, processorReference: outcome.reference, toVoid: requestId, renewAt };
      }
      const end = endOnHold(submission, hold, ending);
      if (!isOk(outcome)) {
        const isTold = outcome.code !== 'never_received';
        const subject = subjectOn(hold, holdAfter(hold), amount);
        const operation = isTold ? resultOf(requestId, 'RENEWAL', subject, ending) : undefined;
        return { ...end, ...books, renewAt, operation };
      }
      const subject = subjectOn(hold, holdAfter(hold, books, { expiresAt, guaranteedUntil }), amount);
      return {
        ...end,
        ...books,
        ...ableTo(outcome),
        ...endsAt(expiresAt, guaranteedUntil),
        renewAt,
        authorizationId: requestId,
        toVoid: authorizationOf(hold),
        operation: resultOf(requestId, 'RENEWAL', subject, ending),
      };
    },
  },

  /** It moves no counter, and makes no operation. */
  LATE_VOID: {
    judge(hold, { authorization = hold.requestId, replaced = false }) {
      const isCountedOn = hold.phase !== 'FAILED' && authorization === authorizationOf(hold);
      const isOnItsWay = replaced && hold.toVoid !== authorization;
      return isCountedOn || isOnItsWay ? 'HOLD_CAPTURED' : { amount: 0n, closing: hold.closing };
    },
    reckon: (submission, hold, ending) => ({
      ...endOnHold(submission, hold, ending),
      ...booksOf(hold),
      amountReleased: givenBackBy(ending.outcome),
    }),
  },

  REFUND: {
    judge(hold, { amount, imported = false }, capture) {
      if (capture?.holdRequestId !== hold.requestId) return 'CAPTURE_NOT_FOUND';
      const judgement = (imported ? judgeImportedRefund : judgeRefund)(hold, capture, amount);
      if (typeof judgement === 'string') return judgement;
      return { ...judgement, closing: hold.closing, authorizationId: capture.authorizationId };
    },
    reckon(submission, hold, ending) {
      const { requestId, amount, captureRequestId } = submission;
      assert(captureRequestId, 'a refund has a capture');
      const ok = isOk(ending.outcome);
      const books = settleRefund(hold, amount, ok);
      const subject = { ...subjectOn(hold, holdAfter(hold, books), amount, submission), captureRequestId };
      return {
        ...endOnHold(submission, hold, ending),
        ...books,
        captureRequestId,
        amountReserved: amount,
        amountRefunded: ok ? amount : 0n,
        operation: resultOf(requestId, 'REFUND', subject, ending),
      };
    },
  },

  INCREMENT: {
    judge(hold, { amount = 0n, imported, at }) {
      const refusal = imported ? judgeImportedChange(hold) : judgeIncrement(hold, amount, at);
      return refusal ?? { amount, closing: false, changing: 'INCREMENT' };
    },
    /** The processor may let the authorization end earlier after it. */
    reckon(submission, hold, ending) {
      const { requestId, amount } = submission;
      const { outcome, imported } = ending;
      const end = isOk(outcome) ? outcome.expiresAt : undefined;
      const expiresAt = end && hold.expiresAt && end < hold.expiresAt ? end : hold.expiresAt;
      const guaranteedUntil = guaranteeAfter(hold, outcome, expiresAt);
      const books = settleIncrement(hold, amount, isOk(outcome), imported);
      const after = holdAfter(hold, books, { expiresAt, guaranteedUntil });
      return {
        ...endOnHold(submission, hold, ending),
        ...books,
        ...ableTo(outcome),
        ...endsAt(expiresAt, guaranteedUntil),
        operation: resultOf(requestId, 'INCREMENT', subjectOn(hold, after, amount, submission), ending),
      };
    },
  },

  EXTENSION: {
    judge(hold, { imported, at }) {
      const refusal = imported ? judgeImportedChange(hold) : judgeExtension(hold, at);
      return refusal ?? { amount: 0n, closing: false, changing: 'EXTENSION' };
    },
    /** When the processor names no new end, the end has not changed. */
    reckon(submission, hold, ending) {
      const { outcome, at } = ending;
      const there = isOk(outcome) ? outcome.expiresAt : undefined;
      const end = there && expiryOf(hold, at, there);
      const expiresAt = end && hold.expiresAt && end > hold.expiresAt ? end : hold.expiresAt;
      const guaranteedUntil = guaranteeAfter(hold, outcome, expiresAt);
      const books = settleExtension(hold);
      const subject = subjectOn(hold, holdAfter(hold, books, { expiresAt, guaranteedUntil }), 0n);
      return {
        ...endOnHold(submission, hold, ending),
        ...books,
        ...ableTo(outcome),
        ...endsAt(expiresAt, guaranteedUntil),
        operation: resultOf(submission.requestId, 'EXTENSION', subject, ending),
      };
    },
  },
};

/**
 * A capture that the processor has done already. When the hold has ended here, what counts as released was charged in
 * truth.
 */
function judgeImported(hold: WrittenHold, amount: bigint, finalCapture: boolean): RefusalCode | Reservation {
  if (hold.phase !== 'AUTHORIZED') return 'HOLD_NOT_PLACED';
  if (hold.closing) return 'CAPTURE_IN_FLIGHT';
  const room = isOpen(hold) ? hold.remaining : hold.released;
  if (amount > room) return amount <= room + hold.inFlight ? 'CAPTURE_IN_FLIGHT' : 'AMOUNT_EXCEEDS_HOLD';
  return { amount, finalCapture, closing: finalCapture || !hold.allowMultipleCaptures, fromReleased: !isOpen(hold) };
}

/** The processor has done it, whatever the state of the hold here. */
function judgeImportedChange({ phase, closing, changing }: WrittenHold): RefusalCode | undefined {
  if (phase !== 'AUTHORIZED') return 'HOLD_NOT_PLACED';
  return closing || changing != null ? 'CAPTURE_IN_FLIGHT' : undefined;
}

/** An automatic capture that never arrived is sent again under a new requestId, a few times. */
function isMadeAgain(hold: KnownHold, requestId: string, outcome: FinalOutcome): boolean {
  const isLost = !isOk(outcome) && outcome.code === 'never_received';
  return isLost && hold.autoCaptureId === requestId && hold.autoCaptureCount < MOST_AUTO_CAPTURES;
}

const MOST_AUTO_CAPTURES = 3;

/** How long the card scheme guarantees a hold after a change: as before, unless the processor says otherwise. */
function guaranteeAfter(hold: WrittenHold, outcome: FinalOutcome, expiresAt: Date | null | undefined) {
  const until = (isOk(outcome) && outcome.guaranteedUntil) || hold.guaranteedUntil || undefined;
  return until && expiresAt ? earlier(until, expiresAt) : until;
}

/** When a hold ends from now on, and how long it is guaranteed. */
function endsAt(expiresAt: Date | null | undefined, guaranteed: Date | null | undefined) {
  return { expiresAt: expiresAt?.toISOString(), guaranteedUntil: guaranteed?.toISOString() };
}

/** The new abilities of the authorization, when the processor states them. */
function ableTo(outcome: FinalOutcome) {
  return { capabilities: isOk(outcome) ? outcome.capabilities : undefined };
}
