import type Stripe from 'stripe';
import { keptCard } from '../../../platform/adapter/card.ts';
import type { KeptResult } from '../../../platform/adapter/entry.ts';

/** What Stripe says of a card with a charge, or with a PaymentMethod. */
type SaidCard = Pick<
  Stripe.Charge.PaymentMethodDetails.Card,
  'brand' | 'last4' | 'exp_month' | 'exp_year' | 'funding'
> & {
  readonly three_d_secure?: Pick<Stripe.Charge.PaymentMethodDetails.Card.ThreeDSecure, 'result'> | null;
};

/** What Stripe says of a decline. */
type Decline = Pick<Stripe.PaymentIntent.LastPaymentError, 'payment_method' | 'network_decline_code'>;

/** `not_supported` and `processing_error` say that there was no authentication. */
const THREE_D_SECURE = {
  authenticated: 'authenticated',
  attempt_acknowledged: 'attempted',
  exempted: 'exempted',
  failed: 'failed',
} as const;

/** A card as the contract shows it. */
export function cardOf(card: SaidCard, decline: Decline = {}): Partial<KeptResult> {
  return keptCard({
    brand: card.brand,
    last4: card.last4,
    expiryMonth: card.exp_month,
    expiryYear: card.exp_year,
    funding: card.funding,
    threeDSecure: THREE_D_SECURE[card.three_d_secure?.result as keyof typeof THREE_D_SECURE],
    declineCode: decline.network_decline_code,
  });
}

/** The card that was declined. */
export function declinedCardOf(decline: Decline): Partial<KeptResult> {
  const card = decline.payment_method?.card;
  return card ? cardOf(card, decline) : {};
}
