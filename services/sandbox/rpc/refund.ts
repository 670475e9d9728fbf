import { Answer, type RefundRequest } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Effect, notPerformed } from '../behaviour.ts';
import { type Entry, type Intent, NO_INTENT } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';
import { follow, unable } from './follow.ts';
import type { Outcome } from './outcome.ts';

/** Gives a capture, or a part of it, back to the card. */
export function refund(books: Books, request: RefundRequest, nowMs: number): Outcome {
  const { requestId, authorizationRequestId, captureRequestId, merchantId, account, currency } = request;
  const what = { authorizationRequestId, captureRequestId, amount: Number(request.amount), currency };
  const intent: Intent = { ...NO_INTENT, requestId, kind: 'refund', merchantId, account, ...what };
  return follow(books, intent, nowMs, (authorization) => refusalOf(books, authorization, intent));
}

function refusalOf(books: Books, authorization: Entry, intent: Intent): Effect | undefined {
  const capture = books.entries.find(intent.captureRequestId);
  const captured = capture?.kind === 'capture' && capture.answer === Answer.APPROVED;
  if (!captured || capture.authorizationRequestId !== authorization.requestId) {
    return notPerformed('capture_not_found', 'There is no such capture of this authorization.');
  }
  const refusal = unable(authorization, 'refunds');
  if (refusal) return refusal;
  if (intent.amount > refundableOf(authorization, capture)) {
    return notPerformed('amount_exceeds_capture', 'The amount is more than what is left of the capture.');
  }
  return undefined;
}

/**
 * What of a capture is neither refunded nor taken back nor about to be refunded, minor units. A reversal that names no
 * capture leaves less than that of all captures together.
 */
export function refundableOf(authorization: Entry, capture: Entry): number {
  const ofAll = authorization.captured - authorization.refunded - authorization.reversed;
  return Math.min(capture.amount - capture.refunded - capture.reversed - capture.pending, ofAll);
}
