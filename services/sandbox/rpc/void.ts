import { Answer, type VoidRequest } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { APPROVED, notPerformed } from '../behaviour.ts';
import { type Intent, NO_INTENT } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';
import { findAuthorization, remainingOf } from './authorization.ts';
import { conclude, endingOf, type Outcome } from './outcome.ts';
import { recall } from './recall.ts';

/**
 * Gives back what is left of an authorization, or closes an open checkout. Approved also when nothing was left (all
 * captured, voided before, or its page closed): afterwards nothing is reserved, which is what was asked. An
 * authorization that was refused, or never made, is NOT_PERFORMED: there is nothing that could have been given back.
 */
export function voidAuthorization(books: Books, request: VoidRequest, nowMs: number): Outcome {
  const { requestId, authorizationRequestId } = request;
  const intent: Intent = { ...NO_INTENT, requestId, kind: 'void', authorizationRequestId };
  const earlier = recall(books, intent);
  if (earlier) return earlier;
  const authorization = findAuthorization(books, authorizationRequestId);
  if (!authorization) {
    const effect = notPerformed('authorization_not_found', 'There is no such authorization.');
    return conclude(books, intent, { effect, nowMs });
  }
  if (authorization.answer === Answer.UNSPECIFIED) {
    cancelCheckout(books, authorization.requestId, nowMs);
    return conclude(books, intent, { effect: APPROVED, nowMs });
  }
  if (authorization.answer !== Answer.APPROVED && !CLOSED_PAGE.has(authorization.errorCode)) {
    const effect = notPerformed('authorization_not_approved', 'The authorization was refused: nothing is reserved.');
    return conclude(books, intent, { effect, nowMs });
  }
  const voided = authorization.answer === Answer.APPROVED ? remainingOf(authorization) : 0;
  if (voided > 0) books.entries.add(authorization.requestId, { voided });
  const behaviour = authorization.behaviour === 'slow' ? 'slow' : undefined;
  return conclude(books, intent, { effect: APPROVED, behaviour, nowMs }, voided);
}

/** Error codes of a checkout that ended without a card. */
export const CHECKOUT_CANCELLED = 'checkout_cancelled';
export const CHECKOUT_EXPIRED = 'checkout_expired';
const CLOSED_PAGE = new Set([CHECKOUT_CANCELLED, CHECKOUT_EXPIRED]);

function cancelCheckout(books: Books, requestId: string, nowMs: number): void {
  const effect = notPerformed(CHECKOUT_CANCELLED, 'The merchant cancelled the checkout.');
  books.entries.end(requestId, endingOf({ kind: 'checkout' }, { effect, nowMs }));
}
