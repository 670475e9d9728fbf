import { randomBytes } from 'node:crypto';
import type Stripe from 'stripe';

/** The fields of Stripe's objects that the fake supports. */
export type Intent = Pick<
  Stripe.PaymentIntent,
  | 'id'
  | 'object'
  | 'amount'
  | 'amount_capturable'
  | 'amount_received'
  | 'canceled_at'
  | 'cancellation_reason'
  | 'capture_method'
  | 'created'
  | 'currency'
  | 'customer'
  | 'description'
  | 'latest_charge'
  | 'livemode'
  | 'metadata'
  | 'next_action'
  | 'payment_method'
  | 'payment_method_options'
  | 'setup_future_usage'
  | 'status'
> & {
  last_payment_error: Pick<Stripe.PaymentIntent.LastPaymentError, 'code' | 'decline_code' | 'message' | 'type'> | null;
};
export type Card = Pick<
  Stripe.Charge.PaymentMethodDetails.Card,
  | 'brand'
  | 'capture_before'
  | 'exp_month'
  | 'exp_year'
  | 'funding'
  | 'last4'
  | 'three_d_secure'
  | 'multicapture'
  | 'incremental_authorization'
  | 'network_transaction_id'
  | 'authorization_code'
>;
export type Charge = Pick<
  Stripe.Charge,
  | 'id'
  | 'object'
  | 'amount'
  | 'amount_captured'
  | 'amount_refunded'
  | 'captured'
  | 'created'
  | 'currency'
  | 'payment_intent'
  | 'status'
> & { payment_method_details: { type: 'card'; card: Card } };
export type Refund = Pick<
  Stripe.Refund,
  | 'id'
  | 'object'
  | 'amount'
  | 'balance_transaction'
  | 'charge'
  | 'created'
  | 'currency'
  | 'metadata'
  | 'payment_intent'
  | 'status'
  | 'failure_reason'
>;
export type Dispute = Pick<
  Stripe.Dispute,
  'id' | 'object' | 'amount' | 'charge' | 'created' | 'currency' | 'payment_intent' | 'reason' | 'status'
>;
export type Session = Pick<
  Stripe.Checkout.Session,
  | 'id'
  | 'object'
  | 'amount_total'
  | 'client_reference_id'
  | 'created'
  | 'currency'
  | 'customer_creation'
  | 'expires_at'
  | 'metadata'
  | 'mode'
  | 'payment_intent'
  | 'payment_status'
  | 'status'
  | 'success_url'
  | 'cancel_url'
  | 'url'
>;
export type PaymentMethod = Pick<Stripe.PaymentMethod, 'id' | 'object' | 'created' | 'customer' | 'livemode' | 'type'>;
export type Event = Pick<Stripe.Event, 'id' | 'object' | 'api_version' | 'created' | 'livemode' | 'type'> & {
  account?: string;
  data: { object: object };
};

/** The fields of the payment that a session creates. */
export interface SessionTerms {
  readonly features: boolean;
  readonly futureUsage: boolean;
  readonly intentMetadata: Record<string, string>;
  readonly description: string | null;
}

/** One account of the fake Stripe, with its history. */
export interface Account {
  readonly id: string;
  /** Multicapture, increments and extended authorization; without them requesting any is an error. */
  readonly hasFeatures: boolean;
  readonly intents: Map<string, Intent>;
  readonly charges: Map<string, Charge>;
  readonly refunds: Map<string, Refund>;
  readonly disputes: Map<string, Dispute>;
  /** What moved the balance, by the id of the balance transaction. */
  readonly categories: Map<string, 'refund' | 'partial_capture_reversal'>;
  readonly sessions: Map<string, Session>;
  readonly terms: Map<string, SessionTerms>;
  readonly paymentMethods: Map<string, PaymentMethod>;
  /** How often a PaymentIntent was captured and incremented. */
  readonly counts: Map<string, { captures: number; increments: number }>;
  readonly events: Event[];
  /** The status of new refunds. */
  refundStatus: 'succeeded' | 'pending';
  now(): number;
}

/** Creates an account. Times are in seconds. */
export function openAccount(id: string, now: () => number, hasFeatures: boolean): Account {
  return {
    id,
    hasFeatures,
    intents: new Map(),
    charges: new Map(),
    refunds: new Map(),
    disputes: new Map(),
    categories: new Map(),
    sessions: new Map(),
    terms: new Map(),
    paymentMethods: new Map(),
    counts: new Map(),
    events: [],
    refundStatus: 'succeeded',
    now,
  };
}

export function newId(prefix: string): string {
  return `${prefix}_${randomBytes(12).toString('hex')}`;
}

/** Records an event with the object as it is now. */
export function emit(account: Account, type: Event['type'], object: object): void {
  const about = account.id === '' ? {} : { account: account.id };
  const data = { object: structuredClone(object) };
  const event = {
    id: newId('evt'),
    object: 'event',
    api_version: null,
    created: account.now(),
    livemode: false,
    type,
    data,
  };
  account.events.push({ ...event, ...about } as Event);
}
