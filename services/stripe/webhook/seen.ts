import type Stripe from 'stripe';

/** What Stripe says of a payment. */
export interface Seen {
  readonly intent: Stripe.PaymentIntent;
  readonly refunds: readonly Stripe.Refund[];
  readonly disputes: readonly Stripe.Dispute[];
}
