import { mismatch, NOT_FOUND } from '../../../platform/adapter/authorization.ts';
import { notPerformed } from '../../../platform/adapter/ending.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { APPROVED, type Effect, effectOf } from '../behaviour.ts';
import { type Entry, type Intent, intentOf } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';
import { conclude, endingOf, type Outcome, recall } from './outcome.ts';
import { endedElsewhere, findAuthorization } from './perform.ts';

/**
 * Gives back what is left of an authorization, or closes an open checkout. Approved also when nothing was left (all
 * captured, voided before, or its page closed): afterwards nothing is reserved, which is what was asked. An
 * authorization that was refused, never made, or ended by somebody else is NOT_PERFORMED: there is nothing that could
 * have been given back.
 */
export function voidAuthorization(books: Books, request: object, nowMs: number): Outcome {
  const intent = intentOf('void', request);
  const { authorizationRequestId } = intent;
  const earlier = recall(books, intent);
  if (earlier) return earlier;
  const authorization = findAuthorization(books, authorizationRequestId);
  const refusal = refusalOf(authorization, intent);
  if (refusal) return conclude(books, intent, { effect: refusal, nowMs });
  if (authorization?.answer === Answer.UNSPECIFIED) cancelCheckout(books, authorizationRequestId, 'merchant', nowMs);
  if (authorization?.answer !== Answer.APPROVED) return conclude(books, intent, { effect: APPROVED, nowMs });
  const { behaviour } = authorization;
  return conclude(books, intent, { effect: effectOf(behaviour, 'void'), behaviour, nowMs });
}

function refusalOf(authorization: Entry | undefined, intent: Intent): Effect | undefined {
  if (!authorization) return NOT_FOUND;
  const refusal = mismatch(authorization, intent);
  if (refusal) return refusal;
  if (authorization.answer === Answer.ACCEPTED) {
    return notPerformed('authorization_not_ended', 'The authorization has no result yet.');
  }
  const isPage = authorization.answer === Answer.UNSPECIFIED || CLOSED_PAGE.has(authorization.errorCode);
  if (authorization.answer !== Answer.APPROVED && !isPage) {
    return notPerformed('authorization_not_approved', 'The authorization was refused: nothing is reserved.');
  }
  return endedElsewhere(authorization);
}

/** Error codes of a checkout that ended without a card. */
export const CHECKOUT_CANCELLED = 'checkout_cancelled';
export const CHECKOUT_EXPIRED = 'checkout_expired';
const CLOSED_PAGE = new Set([CHECKOUT_CANCELLED, CHECKOUT_EXPIRED]);

/** Ends an open checkout without a card. */
export function cancelCheckout(books: Books, requestId: string, by: 'merchant' | 'customer', nowMs: number): void {
  const effect = notPerformed(CHECKOUT_CANCELLED, `The ${by} cancelled the checkout.`);
  books.entries.end(requestId, endingOf({ kind: 'checkout' }, { effect, nowMs }));
}
