import { mismatch, NOT_FOUND } from '../../../platform/adapter/authorization.ts';
import { notPerformed } from '../../../platform/adapter/ending.ts';
import { type KeptCard, LARGEST_AMOUNT } from '../../../platform/adapter/entry.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Ability, type BehaviourName, behaviourOfToken, type Effect, effectOf, isAble } from '../behaviour.ts';
import { type Entry, type Intent, intentOf } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';
import { type Conclusion, cardOf, conclude, type Outcome, recall } from './outcome.ts';
import { endedElsewhere, findAuthorization, refundableOf, remainingOf } from './perform.ts';

/** Authorizes or credits an amount with a token; a repeated identifier returns the same result. */
export function place(books: Books, kind: 'authorization' | 'credit', request: object, nowMs: number): Outcome {
  const intent = intentOf(kind, request);
  return recall(books, intent) ?? conclude(books, intent, { ...placingOf(books, intent), nowMs });
}

/** The card behind every built-in token. */
const BUILT_IN_CARD: KeptCard = { cardBrand: 'visa', cardLast4: '4242', cardExpiryMonth: 12, cardExpiryYear: 2034 };

/** How an authorization or credit with a token goes; a token nobody knows gets NOT_PERFORMED `token_invalid`. */
function placingOf(books: Books, { tokenId, merchantId }: Intent): Omit<Conclusion, 'nowMs'> {
  const builtIn = behaviourOfToken(tokenId);
  if (builtIn && builtIn !== 'invalid') return placing(builtIn, BUILT_IN_CARD);
  const generated = books.tokens.find(tokenId, merchantId);
  if (!generated) return { effect: effectOf('invalid', 'authorization') };
  return placing(generated.behaviour, cardOf(generated));
}

function placing(behaviour: BehaviourName, card: KeptCard): Omit<Conclusion, 'nowMs'> {
  return { effect: effectOf(behaviour, 'authorization'), behaviour, card };
}

/**
 * Does something with an approved authorization: recalls the identifier, judges what holds for every such operation,
 * then what the operation itself demands, and ends it as the card behaves.
 */
export function follow(books: Books, kind: keyof typeof JUDGES, request: object, nowMs: number): Outcome {
  const intent = intentOf(kind, request);
  const earlier = recall(books, intent);
  if (earlier) return earlier;
  const authorization = findAuthorization(books, intent.authorizationRequestId);
  if (authorization?.answer !== Answer.APPROVED) return conclude(books, intent, { effect: NOT_FOUND, nowMs });
  const { behaviour } = authorization;
  const refusal = mismatch(authorization, intent) ?? JUDGES[kind](authorization, intent, nowMs, books);
  const effect = refusal ?? effectOf(behaviour, kind);
  return conclude(books, intent, { effect, behaviour, card: cardOf(authorization), nowMs });
}

/** Returns why an operation cannot be done with an authorization; undefined = it can. */
type Judge = (authorization: Entry, intent: Intent, nowMs: number, books: Books) => Effect | undefined;

const JUDGES = {
  /** Charges a part of an authorization; a final capture gives the rest back. */
  capture(authorization, intent, nowMs) {
    if (!isOfSameCard(authorization, intent)) {
      const message = 'Merchant, terminal, user, token or currency are not those of the authorization.';
      return notPerformed('authorization_mismatch', message);
    }
    const isFirst = authorization.captured + authorization.pending === 0;
    const refusal = closed(authorization, nowMs) ?? (isFirst ? undefined : unable(authorization, 'severalCaptures'));
    if (refusal || intent.amount <= remainingOf(authorization)) return refusal;
    return notPerformed('amount_exceeds_authorization', 'The amount is more than what is left of the authorization.');
  },

  /** Adds to an authorization of which something is left. */
  increment(authorization, { amount }, nowMs) {
    const refusal = unable(authorization, 'increments') ?? closed(authorization, nowMs) ?? empty(authorization);
    if (refusal || authorization.amount + authorization.incremented + amount <= LARGEST_AMOUNT) return refusal;
    return notPerformed('amount_too_large', 'The authorization would become too large.');
  },

  /** Lets an authorization of which something is left end a whole hold period from now. */
  extension: (authorization, _, nowMs) =>
    unable(authorization, 'extension') ?? closed(authorization, nowMs) ?? empty(authorization),

  /** Gives a capture, or a part of it, back to the card. */
  refund(authorization, intent, _, books) {
    const capture = books.entries.find(intent.captureRequestId);
    const isCaptured = capture?.kind === 'capture' && capture.answer === Answer.APPROVED;
    if (!isCaptured || capture.authorizationRequestId !== authorization.requestId) {
      return notPerformed('capture_not_found', 'There is no such capture of this authorization.');
    }
    const refusal = unable(authorization, 'refunds');
    if (refusal || intent.amount <= refundableOf(authorization, capture)) return refusal;
    return notPerformed('amount_exceeds_capture', 'The amount is more than what is left of the capture.');
  },
} as const satisfies Record<string, Judge>;

function isOfSameCard(authorization: Entry, intent: Intent): boolean {
  return (
    authorization.merchantId === intent.merchantId &&
    authorization.terminalId === intent.terminalId &&
    authorization.userId === intent.userId &&
    // After a checkout that saved the card, the token it generated names the same card.
    (authorization.tokenId === intent.tokenId ||
      (authorization.kind === 'checkout' && authorization.generatedTokenId === intent.tokenId))
  );
}

/** A refusal unless an authorization is still open: not ended, by its time or by somebody. */
function closed(authorization: Entry, nowMs: number): Effect | undefined {
  const { expiresAtMs, extendedToMs } = authorization;
  if (nowMs >= Math.max(expiresAtMs, extendedToMs))
    return notPerformed('authorization_expired', 'The authorization has ended.');
  return endedElsewhere(authorization);
}

/** A refusal unless something is left of an authorization. */
function empty(authorization: Entry): Effect | undefined {
  if (remainingOf(authorization) > 0) return undefined;
  return notPerformed('authorization_closed', 'Nothing is left of the authorization.');
}

/** A refusal unless an authorization can do something. */
function unable({ behaviour }: Entry, ability: Ability): Effect | undefined {
  if (isAble(behaviour, ability)) return undefined;
  return notPerformed('not_supported', 'This authorization cannot do that.');
}
