import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { CardTry, Checkout } from '../ledger/checkout.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';
import { CHECKOUT_CANCELLED, CHECKOUT_EXPIRED } from '../rpc/void.ts';
import type { Ended } from './words.ts';

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
export type Standing = 'open' | 'challenged' | Ended;

/** Where a checkout stands now. */
export function standingOf({ checkout, entry, cardTry }: OpenedCheckout, nowMs: number): Standing {
  if (entry.answer === Answer.APPROVED) return 'approved';
  if (entry.errorCode === CHECKOUT_CANCELLED) return 'cancelled';
  if (entry.errorCode === CHECKOUT_EXPIRED) return 'expired';
  if (entry.answer !== Answer.UNSPECIFIED) return 'failed';
  if (nowMs >= checkout.expiresAtMs) return 'expired';
  return cardTry?.state === 'challenged' ? 'challenged' : 'open';
}
