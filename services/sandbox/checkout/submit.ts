import { randomBytes } from 'node:crypto';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { AUTHENTICATION_FAILED, behaviourOf, type Effect, effectOf } from '../behaviour.ts';
import type { Card, CardTry, Checkout } from '../ledger/checkout.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';
import { carryOut } from '../rpc/outcome.ts';
import { cancelPage, closedAs, hasOpenPage } from '../rpc/page.ts';

/** A page with the entry of its authorization and the latest card that did not end it. */
export interface OpenedCheckout {
  readonly checkout: Checkout;
  readonly entry: Entry;
  readonly cardTry: CardTry | undefined;
  /** It waits for its customer. */
  readonly isOpen: boolean;
}

/** Reads a checkout; undefined = there is none. */
export function readCheckout(books: Books, checkout: Checkout | undefined): OpenedCheckout | undefined {
  const entry = checkout && books.entries.find(checkout.requestId);
  if (!entry) return undefined;
  return { checkout, entry, cardTry: books.cardTries.find(checkout.requestId), isOpen: hasOpenPage(books, entry) };
}

/** Where a checkout stands: it takes a card, it waits for the customer's bank, or it ended. */
type Standing = 'open' | 'challenged' | 'approved' | 'failed' | 'expired' | 'cancelled';

/** Where a checkout stands now. */
export function standingOf({ checkout, entry, cardTry, isOpen }: OpenedCheckout, nowMs: number): Standing {
  if (entry.answer === Answer.APPROVED) return 'approved';
  if (!isOpen) return closedAs(entry) ?? 'failed';
  if (nowMs >= checkout.expiresAtMs) return 'expired';
  return cardTry?.state === 'challenged' ? 'challenged' : 'open';
}

/** What a customer may submit. */
export type Submission =
  /** A card; of one that is challenged the customer's bank asks first. */
  | { readonly card: Card; readonly challenged: boolean }
  /** The bank's answer to the challenge of the card with this number. */
  | { readonly challenge: number; readonly passed: boolean }
  | { readonly cancels: true };

/**
 * Does what a form asks: authorizes with a card, answers its challenge, or cancels. A checkout is authorized once at
 * most: only while its page is open, and not while an earlier card waits for its bank. Core's event is written with the
 * authorization. Returns how long the customer waits for the end of the checkout, ms; undefined when it goes on, after
 * a card that was declined too, or had ended already: its page says how it stands.
 */
export function submit(books: Books, requestId: string, submission: Submission, nowMs: number): number | undefined {
  const opened = readCheckout(books, books.checkouts.find(requestId));
  if (!opened) return undefined;
  const standing = standingOf(opened, nowMs);
  if (standing !== 'open' && standing !== 'challenged') return undefined;
  if ('cancels' in submission) {
    cancelPage(books, opened.entry, 'customer', nowMs);
    if (opened.entry.kind === 'checkout') books.events.insert('checkoutCompleted', requestId, nowMs);
    return 0;
  }
  const { cardTry } = opened;
  if ('card' in submission) {
    if (standing !== 'open') return undefined;
    if (!submission.challenged) return authorize(books, opened, submission.card, { nowMs });
    books.cardTries.put(requestId, submission.card);
  } else if (standing === 'challenged' && cardTry?.number === submission.challenge) {
    if (opened.entry.kind === 'authorization') return endStepUp(books, opened, cardTry, submission.passed, nowMs);
    if (submission.passed) return authorize(books, opened, cardTry, { nowMs, authenticated: true });
    books.cardTries.put(requestId, cardTry, 'challenge_failed');
  }
  return undefined;
}

/** Ends an authorization that waited for its customer, as the card behaves once it is authenticated. */
function endStepUp(books: Books, { entry }: OpenedCheckout, card: Card, isConfirmed: boolean, nowMs: number) {
  const { requestId } = entry;
  const { challenge, delayMs = 0 } = behaviourOf(card.behaviour);
  const authenticated = isConfirmed && challenge !== 'fails';
  const effect: Effect = authenticated ? effectOf(card.behaviour, 'authorization') : AUTHENTICATION_FAILED;
  // The request to the issuer is lost: the page stays open.
  if (effect.silence === 'before') return undefined;
  books.cardTries.drop(requestId);
  const ending = carryOut(books, entry, { effect, card, nowMs, authenticated });
  books.entries.end(requestId, ending);
  const isLost = effect.silence === 'after' || challenge === 'lost';
  if (ending.answer !== Answer.ACCEPTED && !isLost) books.events.insert('operationSettled', requestId, nowMs);
  return delayMs;
}

function authorize(
  books: Books,
  { checkout: { requestId, saveCard }, entry }: OpenedCheckout,
  card: Card,
  how: { readonly nowMs: number; readonly authenticated?: boolean },
): number | undefined {
  const effect = effectOf(card.behaviour, 'authorization');
  // Another card may do better. A failure of the processor's own ends the checkout.
  const isAboutCard = effect.answer === Answer.DECLINED || effect.errorCode === 'token_invalid';
  if (isAboutCard || effect.silence === 'before') {
    books.cardTries.put(requestId, card, isAboutCard ? effect.errorCode : 'no_answer');
    return undefined;
  }
  const ending = carryOut(books, entry, { effect, card, ...how });
  const isSaved = saveCard === 1 && ending.answer === Answer.APPROVED;
  const generatedTokenId = isSaved ? `tok_${randomBytes(18).toString('base64url')}` : '';
  if (isSaved) books.tokens.insert(generatedTokenId, entry.merchantId, card);
  books.entries.end(requestId, { ...ending, generatedTokenId });
  if (effect.silence !== 'after') books.events.insert('checkoutCompleted', requestId, how.nowMs);
  return behaviourOf(card.behaviour).delayMs ?? 0;
}
