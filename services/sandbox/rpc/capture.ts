import { Answer, type CaptureRequest } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type BehaviourName, behaviourOf, type Effect, notPerformed } from '../behaviour.ts';
import type { Entry, Intent } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';
import { findAuthorization, remainingOf } from './authorization.ts';
import { conclude, type Outcome } from './outcome.ts';
import { recall } from './recall.ts';

/** Charges a part of an authorization; a final capture gives the rest back. */
export function capture(books: Books, request: CaptureRequest, nowMs: number): Outcome {
  const intent = intentOf(request);
  const earlier = recall(books, intent);
  if (earlier) return earlier;
  const authorization = findAuthorization(books, intent.authorizationRequestId);
  if (authorization?.answer !== Answer.APPROVED) {
    const effect = notPerformed('authorization_not_found', 'There is no such authorization.');
    return conclude(books, intent, { effect, nowMs });
  }
  const effect = refusalOf(authorization, intent, nowMs) ?? capturingOf(authorization);
  const behaviour = authorization.behaviour as BehaviourName;
  const { cardBrand, cardLast4, cardExpiryMonth, cardExpiryYear } = authorization;
  const card = { cardBrand, cardLast4, cardExpiryMonth, cardExpiryYear };
  const outcome = conclude(books, intent, { effect, behaviour, card, nowMs });
  if (effect.answer === Answer.APPROVED && effect.silence !== 'before') charge(books, authorization, intent, nowMs);
  return outcome;
}

function intentOf(request: CaptureRequest): Intent {
  return {
    requestId: request.requestId,
    kind: 'capture',
    authorizationRequestId: request.authorizationRequestId,
    merchantId: request.merchantId,
    terminalId: request.terminalId,
    userId: request.userId,
    tokenId: request.tokenId,
    amount: Number(request.amount),
    currency: request.currency,
    finalCapture: request.finalCapture ? 1 : 0,
  };
}

/** Why an authorization cannot be captured so, or undefined. */
function refusalOf(authorization: Entry, intent: Intent, nowMs: number): Effect | undefined {
  if (!belongsTogether(authorization, intent)) {
    const message = 'Merchant, terminal, user, token or currency are not those of the authorization.';
    return notPerformed('authorization_mismatch', message);
  }
  if (nowMs >= authorization.expiresAtMs) {
    return notPerformed('authorization_expired', 'The authorization has ended.');
  }
  if (intent.amount > remainingOf(authorization)) {
    return notPerformed('amount_exceeds_authorization', 'The amount is more than what is left of the authorization.');
  }
  return undefined;
}

function belongsTogether(authorization: Entry, intent: Intent): boolean {
  return (
    authorization.merchantId === intent.merchantId &&
    authorization.terminalId === intent.terminalId &&
    authorization.userId === intent.userId &&
    authorization.currency === intent.currency &&
    // After a checkout that saved the card, the token it generated names the same card.
    (authorization.tokenId === intent.tokenId ||
      (authorization.kind === 'checkout' && authorization.generatedTokenId === intent.tokenId))
  );
}

function capturingOf(authorization: Entry): Effect {
  return behaviourOf(authorization.behaviour as BehaviourName).capturing;
}

function charge(books: Books, authorization: Entry, intent: Intent, nowMs: number): void {
  const voided = intent.finalCapture ? remainingOf(authorization) - intent.amount : 0;
  books.entries.add(authorization.requestId, { captured: intent.amount, voided });
  const { reversesAfterMs } = behaviourOf(authorization.behaviour as BehaviourName);
  if (reversesAfterMs === undefined) return;
  const { requestId } = intent;
  const occurredAtMs = nowMs + reversesAfterMs;
  books.events.insert({ eventId: `reversal-${requestId}`, kind: 'captureReversed', requestId, occurredAtMs });
}
