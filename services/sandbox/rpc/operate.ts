import { mismatch, NOT_FOUND } from '../../../platform/adapter/authorization.ts';
import { notPerformed } from '../../../platform/adapter/ending.ts';
import { LARGEST_AMOUNT } from '../../../platform/adapter/entry.ts';
import { Answer, type AuthorizeRequest } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import {
  type Ability,
  AUTHENTICATION_REQUIRED,
  behaviourOf,
  behaviourOfToken,
  type Effect,
  effectOf,
  isAble,
} from '../behaviour.ts';
import type { Card } from '../ledger/checkout.ts';
import { type Entry, type Intent, intentOf } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';
import { conclude, type Outcome, recall } from './outcome.ts';
import { cancelPage, closedAs, expirePage, hasOpenPage, type Pages } from './page.ts';
import { refundableOf, remainingOf } from './perform.ts';
import { challenge, isChallenged, type StepUp, shownResult } from './step-up.ts';

/** The card behind every built-in token. */
const BUILT_IN_CARD = { cardBrand: 'visa', cardLast4: '4242', cardExpiryMonth: 12, cardExpiryYear: 2034 };

type Authorization = StepUp & Partial<Pick<AuthorizeRequest, 'customerPresent' | 'networkTransactionId'>>;

/**
 * Authorizes an amount with a token; a repeated identifier returns the same result. A token nobody knows gets
 * NOT_PERFORMED `token_invalid`. When the issuer asks for authentication, it waits for its customer.
 */
export function authorize(books: Books, request: Authorization, pages: Pages, nowMs: number): Outcome {
  const intent = intentOf('authorization', request);
  const known = books.entries.find(intent.requestId);
  if (known) expirePage(books, known, nowMs);
  const earlier = recall(books, intent, (requestId) => shownResult(books, requestId, pages));
  if (earlier) return earlier;
  const card = cardOf(books, intent);
  if (!card) return conclude(books, intent, { effect: effectOf('invalid', 'authorization'), nowMs });
  const isUnlinked = !request.customerPresent && !request.networkTransactionId;
  if (isUnlinked && behaviourOf(card.behaviour).customerFirst === true) {
    return conclude(books, intent, { effect: AUTHENTICATION_REQUIRED, card, nowMs });
  }
  if (isChallenged(card, request)) return challenge(books, intent, request, { card, pages, nowMs });
  return conclude(books, intent, { effect: effectOf(card.behaviour, 'authorization', intent.renews), card, nowMs });
}

/** Credits an amount to a token; otherwise as authorize(). */
export function credit(books: Books, request: object, nowMs: number): Outcome {
  const intent = intentOf('credit', request);
  const earlier = recall(books, intent);
  if (earlier) return earlier;
  const card = cardOf(books, intent);
  return conclude(books, intent, {
    effect: effectOf(card?.behaviour ?? 'invalid', 'credit'),
    ...(card && { card }),
    nowMs,
  });
}

/** The card behind a token; undefined = nobody knows the token. */
function cardOf(books: Books, { tokenId, merchantId }: Intent): Card | undefined {
  const behaviour = behaviourOfToken(tokenId);
  if (behaviour === 'invalid') return undefined;
  return behaviour ? { ...BUILT_IN_CARD, behaviour } : books.tokens.find(tokenId, merchantId);
}

/**
 * Does something with an authorization: recalls the identifier, judges what holds for every such operation, then what
 * the operation itself demands, and ends it as the card behaves. A void closes a page that is still open.
 */
export function follow(books: Books, kind: keyof typeof JUDGES, request: object, nowMs: number): Outcome {
  const intent = intentOf(kind, request);
  const earlier = recall(books, intent);
  if (earlier) return earlier;
  const authorization = findAuthorization(books, intent.authorizationRequestId);
  const isThere = authorization && (authorization.answer === Answer.APPROVED || kind === 'void');
  if (!isThere) return conclude(books, intent, { effect: NOT_FOUND, nowMs });
  const refusal = mismatch(authorization, intent) ?? JUDGES[kind](authorization, intent, nowMs, books);
  if (!refusal && hasOpenPage(books, authorization)) cancelPage(books, authorization, 'merchant', nowMs);
  const effect = refusal ?? effectOf(authorization.behaviour, kind);
  return conclude(books, intent, { effect, card: authorization, nowMs });
}

/** The entry of an authorization or checkout, however it ended; undefined when there is none. */
function findAuthorization(books: Books, requestId: string): Entry | undefined {
  const entry = books.entries.find(requestId);
  return entry?.kind === 'authorization' || entry?.kind === 'checkout' ? entry : undefined;
}

/** Returns why an operation cannot be done with an authorization; undefined = it can. */
type Judge = (authorization: Entry, intent: Intent, nowMs: number, books: Books) => Effect | undefined;

/** What each operation demands of its authorization, which is approved but for a void. */
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
    return TOO_MUCH;
  },

  /**
   * Gives back what is left of an authorization, or closes its open page. Approved also when nothing was left (all
   * captured, voided before, or its page closed): afterwards nothing is reserved, which is what was asked. An
   * authorization that was refused or ended by somebody else is NOT_PERFORMED: there is nothing that could have been
   * given back.
   */
  void(authorization, _, __, books) {
    const { answer } = authorization;
    if (hasOpenPage(books, authorization)) return undefined;
    if (answer === Answer.ACCEPTED) {
      return notPerformed('authorization_not_ended', 'The authorization has no result yet.');
    }
    if (answer !== Answer.APPROVED && closedAs(authorization) === undefined) {
      return notPerformed('authorization_not_approved', 'The authorization was refused: nothing is reserved.');
    }
    return endedElsewhere(authorization);
  },

  /** Adds to an authorization of which something is left. */
  increment(authorization, { amount }, nowMs) {
    const refusal = unable(authorization, 'increments') ?? closed(authorization, nowMs) ?? empty(authorization);
    if (refusal || authorization.amount + authorization.incremented + amount <= LARGEST_AMOUNT) return refusal;
    return notPerformed('amount_too_large', 'The authorization would become too large.');
  },

  /** Gives a part of what is left of an authorization back. */
  decrease(authorization, { amount }, nowMs) {
    const refusal = unable(authorization, 'partialRelease') ?? closed(authorization, nowMs) ?? empty(authorization);
    if (refusal || amount < remainingOf(authorization)) return refusal;
    return TOO_MUCH;
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
  const isOver = nowMs >= Math.max(authorization.expiresAtMs, authorization.extendedToMs);
  return isOver ? EXPIRED : endedElsewhere(authorization);
}

/** A refusal of an authorization that somebody else ended. */
function endedElsewhere({ endedAtMs, behaviour }: Entry): Effect | undefined {
  if (endedAtMs === 0) return undefined;
  return behaviourOf(behaviour).ended?.as === 'voided' ? VOIDED_ELSEWHERE : EXPIRED;
}

const TOO_MUCH = notPerformed(
  'amount_exceeds_authorization',
  'The amount is more than what is left of the authorization.',
);
const EXPIRED = notPerformed('authorization_expired', 'The authorization has ended.');
const VOIDED_ELSEWHERE = notPerformed('authorization_voided', 'The authorization was voided at the processor.');

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
