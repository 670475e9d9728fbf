import type { IncrementAuthorizationRequest } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Effect, notPerformed } from '../behaviour.ts';
import { type Entry, type Intent, NO_INTENT } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';
import { remainingOf } from './authorization.ts';
import { closed, follow, unable } from './follow.ts';
import type { Outcome } from './outcome.ts';

/** Largest amount of the contract, minor units. */
const LARGEST_AMOUNT = 999_999_999_999;

/** Adds to an authorization of which something is left. */
export function incrementAuthorization(books: Books, request: IncrementAuthorizationRequest, nowMs: number): Outcome {
  const { requestId, authorizationRequestId, merchantId, account, currency } = request;
  const who = { authorizationRequestId, merchantId, account };
  const intent: Intent = {
    ...NO_INTENT,
    requestId,
    kind: 'increment',
    ...who,
    amount: Number(request.amount),
    currency,
  };
  return follow(books, intent, nowMs, (authorization) => refusalOf(authorization, intent.amount, nowMs));
}

function refusalOf(authorization: Entry, amount: number, nowMs: number): Effect | undefined {
  const refusal = unable(authorization, 'increments') ?? closed(authorization, nowMs);
  if (refusal) return refusal;
  if (remainingOf(authorization) === 0) {
    return notPerformed('authorization_closed', 'Nothing is left of the authorization.');
  }
  if (authorization.amount + authorization.incremented + amount > LARGEST_AMOUNT) {
    return notPerformed('amount_too_large', 'The authorization would become too large.');
  }
  return undefined;
}
