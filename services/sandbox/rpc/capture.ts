import type { CaptureRequest } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Effect, notPerformed } from '../behaviour.ts';
import { type Entry, type Intent, NO_INTENT } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';
import { remainingOf } from './authorization.ts';
import { closed, follow, unable } from './follow.ts';
import type { Outcome } from './outcome.ts';

/** Charges a part of an authorization; a final capture gives the rest back. */
export function capture(books: Books, request: CaptureRequest, nowMs: number): Outcome {
  const intent = intentOf(request);
  return follow(books, intent, nowMs, (authorization) => refusalOf(authorization, intent, nowMs));
}

function intentOf(request: CaptureRequest): Intent {
  const { requestId, authorizationRequestId, merchantId, account, terminalId, userId, tokenId, currency } = request;
  const who = { merchantId, account, terminalId, userId, tokenId };
  const what = { amount: Number(request.amount), currency, finalCapture: request.finalCapture ? 1 : 0 } as const;
  return { ...NO_INTENT, requestId, kind: 'capture', authorizationRequestId, ...who, ...what };
}

/** Why an authorization cannot be captured so, or undefined. */
function refusalOf(authorization: Entry, intent: Intent, nowMs: number): Effect | undefined {
  if (!belongsTogether(authorization, intent)) {
    const message = 'Merchant, terminal, user, token or currency are not those of the authorization.';
    return notPerformed('authorization_mismatch', message);
  }
  const refusal =
    closed(authorization, nowMs) ?? (isFirst(authorization) ? undefined : unable(authorization, 'severalCaptures'));
  if (refusal) return refusal;
  if (intent.amount > remainingOf(authorization)) {
    return notPerformed('amount_exceeds_authorization', 'The amount is more than what is left of the authorization.');
  }
  return undefined;
}

function isFirst({ captured, pending }: Entry): boolean {
  return captured + pending === 0;
}

function belongsTogether(authorization: Entry, intent: Intent): boolean {
  return (
    authorization.merchantId === intent.merchantId &&
    authorization.terminalId === intent.terminalId &&
    authorization.userId === intent.userId &&
    // After a checkout that saved the card, the token it generated names the same card.
    (authorization.tokenId === intent.tokenId ||
      (authorization.kind === 'checkout' && authorization.generatedTokenId === intent.tokenId))
  );
}
