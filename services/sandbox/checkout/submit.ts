import { randomBytes } from 'node:crypto';
import type { KeptCard } from '../../../platform/adapter/entry.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type BehaviourName, behaviourOf, type Effect, effectOf } from '../behaviour.ts';
import type { CardTry, Checkout } from '../ledger/checkout.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';
import { cardOf, endingOf } from '../rpc/outcome.ts';
import { perform } from '../rpc/perform.ts';
import { CHECKOUT_CANCELLED, CHECKOUT_EXPIRED, cancelCheckout } from '../rpc/void.ts';
import type { Decline, Ended } from './words.ts';

/** A checkout with the entry of its authorization and the latest card that did not end it. */
export interface OpenedCheckout {
  readonly checkout: Checkout;
  readonly entry: Entry;
  readonly cardTry: CardTry | undefined;
}

/** Reads a checkout; undefined = there is none. */
export function readCheckout(books: Books, checkout: Checkout | undefined): OpenedCheckout | undefined {
  const entry = checkout && books.entries.find(checkout.requestId);
  return entry && { checkout, entry, cardTry: books.cardTries.find(checkout.requestId) };
}

/** Where a checkout stands: it takes a card, it waits for the customer's bank, or it ended. */
type Standing = 'open' | 'challenged' | Ended;

/** Where a checkout stands now. */
export function standingOf({ checkout, entry, cardTry }: OpenedCheckout, nowMs: number): Standing {
  if (entry.answer === Answer.APPROVED) return 'approved';
  if (entry.errorCode === CHECKOUT_CANCELLED) return 'cancelled';
  if (entry.errorCode === CHECKOUT_EXPIRED) return 'expired';
  if (entry.answer !== Answer.UNSPECIFIED) return 'failed';
  if (nowMs >= checkout.expiresAtMs) return 'expired';
  return cardTry?.state === 'challenged' ? 'challenged' : 'open';
}

/** What a form did to its checkout. */
export type Submitted =
  /** The checkout goes on, or had ended already: its page says how it stands. */
  | { readonly ended: false }
  | {
      readonly ended: true;
      readonly delayMs: number;
      /** The report to core; absent = it is to be lost. */
      readonly eventId?: string;
    };

const GOES_ON: Submitted = { ended: false };

/** A card as it was submitted. */
export interface SubmittedCard {
  readonly card: KeptCard;
  readonly behaviour: BehaviourName;
  /** The customer's bank asks first. */
  readonly challenged: boolean;
}

/**
 * Authorizes a checkout with a card, once at most: only while its page is open, and not while an earlier card waits for
 * its bank. Core's event is written with the authorization. A card that is declined leaves the checkout open.
 */
export function submitCard(books: Books, requestId: string, submitted: SubmittedCard, nowMs: number): Submitted {
  const opened = openedIn(books, requestId, 'open', nowMs);
  if (!opened) return GOES_ON;
  const { card, behaviour, challenged } = submitted;
  if (!challenged) return authorize(books, opened, submitted, nowMs);
  books.cardTries.put({ requestId, state: 'challenged', behaviour, errorCode: '', ...card });
  return GOES_ON;
}

/** Takes the bank's answer to the challenge of the checkout's latest card. */
export function answerChallenge(
  books: Books,
  requestId: string,
  answer: { readonly number: number; readonly passed: boolean },
  nowMs: number,
): Submitted {
  const opened = openedIn(books, requestId, 'challenged', nowMs);
  const cardTry = opened?.cardTry;
  if (!cardTry || cardTry.number !== answer.number) return GOES_ON;
  const submitted = { behaviour: cardTry.behaviour, card: cardOf(cardTry), authenticated: answer.passed };
  if (answer.passed) return authorize(books, opened, submitted, nowMs);
  return decline(books, requestId, submitted, 'challenge_failed');
}

/** Ends a checkout without a card, as its customer wishes, and reports it. */
export function cancel(books: Books, requestId: string, nowMs: number): Submitted {
  const opened = openedIn(books, requestId, 'open', nowMs) ?? openedIn(books, requestId, 'challenged', nowMs);
  if (!opened) return GOES_ON;
  cancelCheckout(books, requestId, 'customer', nowMs);
  return { ended: true, delayMs: 0, eventId: report(books, requestId, nowMs) };
}

function openedIn(books: Books, requestId: string, standing: Standing, nowMs: number): OpenedCheckout | undefined {
  const opened = readCheckout(books, books.checkouts.find(requestId));
  return opened && standingOf(opened, nowMs) === standing ? opened : undefined;
}

function authorize(
  books: Books,
  { checkout, entry }: OpenedCheckout,
  { card, behaviour, authenticated = false }: Pick<SubmittedCard, 'card' | 'behaviour'> & { authenticated?: boolean },
  nowMs: number,
): Submitted {
  const { requestId } = checkout;
  const effect = effectOf(behaviour, 'authorization');
  const { delayMs = 0 } = behaviourOf(behaviour);
  if (effect.silence === 'before') return decline(books, requestId, { card, behaviour }, 'no_answer');
  if (isAboutCard(effect)) return decline(books, requestId, { card, behaviour }, effect.errorCode);
  const approved = effect.answer === Answer.APPROVED;
  const generatedTokenId = approved && checkout.saveCard ? saveCard(books, entry.merchantId, behaviour, card) : '';
  const ending = { ...endingOf(entry, { effect, behaviour, card, authenticated, nowMs }), generatedTokenId };
  books.entries.end(requestId, ending);
  if (approved) perform(books, { ...entry, ...ending }, nowMs);
  if (effect.silence === 'after') return { ended: true, delayMs };
  return { ended: true, delayMs, eventId: report(books, requestId, nowMs) };
}

/** Whether another card may do better. A failure of the processor's own ends the checkout. */
function isAboutCard({ answer, errorCode }: Effect): boolean {
  return answer === Answer.DECLINED || errorCode === 'token_invalid';
}

function decline(
  books: Books,
  requestId: string,
  { card, behaviour }: Pick<SubmittedCard, 'card' | 'behaviour'>,
  errorCode: Decline | (string & {}),
): Submitted {
  books.cardTries.put({ requestId, state: 'declined', behaviour, errorCode, ...card });
  return GOES_ON;
}

function report(books: Books, requestId: string, nowMs: number): string {
  const eventId = `checkout-${requestId}`;
  books.events.insert({ eventId, kind: 'checkoutCompleted', requestId, occurredAtMs: nowMs });
  return eventId;
}

function saveCard(books: Books, merchantId: string, behaviour: BehaviourName, card: KeptCard): string {
  const tokenId = `tok_${randomBytes(18).toString('base64url')}`;
  books.tokens.insert({ tokenId, merchantId, behaviour, ...card });
  return tokenId;
}
