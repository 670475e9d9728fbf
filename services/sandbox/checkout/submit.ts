import { randomBytes } from 'node:crypto';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type BehaviourName, behaviourOf } from '../behaviour.ts';
import type { Checkout } from '../ledger/checkout.ts';
import type { Entry, KeptCard } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';
import { endingOf } from '../rpc/outcome.ts';
import { CHECKOUT_CANCELLED, CHECKOUT_EXPIRED } from '../rpc/void.ts';

/** How a checkout stands. */
export type Standing = 'open' | 'expired' | 'cancelled' | 'used';

/** How a checkout stands now. */
export function standingOf(checkout: Checkout, entry: Entry, nowMs: number): Standing {
  if (entry.answer === Answer.UNSPECIFIED) return nowMs < checkout.expiresAtMs ? 'open' : 'expired';
  if (entry.errorCode === CHECKOUT_CANCELLED) return 'cancelled';
  return entry.errorCode === CHECKOUT_EXPIRED ? 'expired' : 'used';
}

/** What became of a submit. */
export type Submitted =
  | { readonly kind: 'closed'; readonly standing: Standing }
  /** The request got lost on its way to the bank: nothing was done. */
  | { readonly kind: 'unanswered' }
  | {
      readonly kind: 'ended';
      readonly approved: boolean;
      readonly delayMs: number;
      /** The report to core; absent = its answer is to be lost. */
      readonly eventId?: string;
    };

/** Authorizes a checkout with a card: once, and only while its page is open. The event is written with it. */
export function submitCard(
  books: Books,
  checkout: Checkout,
  submitted: { readonly card: KeptCard; readonly behaviour: BehaviourName; readonly nowMs: number },
): Submitted {
  const { requestId } = checkout;
  const { card, behaviour, nowMs } = submitted;
  const entry = books.entries.find(requestId);
  if (!entry) throw new Error('a checkout has an entry');
  const standing = standingOf(checkout, entry, nowMs);
  if (standing !== 'open') return { kind: 'closed', standing };
  const { placing: effect, delayMs = 0 } = behaviourOf(behaviour);
  if (effect.silence === 'before') return { kind: 'unanswered' };
  const approved = effect.answer === Answer.APPROVED;
  const generatedTokenId = approved && checkout.saveCard ? saveCard(books, entry.merchantId, behaviour, card) : '';
  books.entries.end(requestId, { ...endingOf(entry, { effect, behaviour, card, nowMs }), generatedTokenId });
  if (effect.silence === 'after') return { kind: 'ended', approved, delayMs };
  const eventId = `checkout-${requestId}`;
  books.events.insert({ eventId, kind: 'checkoutCompleted', requestId, occurredAtMs: nowMs });
  return { kind: 'ended', approved, delayMs, eventId };
}

function saveCard(books: Books, merchantId: string, behaviour: BehaviourName, card: KeptCard): string {
  const tokenId = `tok_${randomBytes(18).toString('base64url')}`;
  books.tokens.insert({ tokenId, merchantId, behaviour, ...card });
  return tokenId;
}
