import type Stripe from 'stripe';
import type { Leases } from '../../platform/adapter/postgres/lease.ts';
import type { LedgerContext } from '../../platform/adapter/postgres/start-ledger.ts';
import type { Patience } from './api/ask.ts';
import type { Reach } from './crash-points.ts';

/** What every call works with. */
export interface Context extends LedgerContext {
  readonly leases: Leases;
  readonly stripe: Stripe;
  /** Which half of the account the API key is for. */
  readonly mode: 'live' | 'test';
  readonly patience: Patience;
  readonly reach: Reach;
  /** What follows the account's name on a customer's statement, by merchant. */
  readonly statementSuffixes: Readonly<Record<string, string>>;
}

/** Whose requests to Stripe these are, and under which idempotency key. */
export function requestOptions(account: string, idempotencyKey?: string): Stripe.RequestOptions {
  return { ...(account !== '' && { stripeAccount: account }), ...(idempotencyKey !== undefined && { idempotencyKey }) };
}

/** What a customer reads on the statement besides the account's name, as a parameter of a PaymentIntent. */
export function statementOf({ statementSuffixes: suffixes }: Context, merchantId: string) {
  const suffix = Object.hasOwn(suffixes, merchantId) ? suffixes[merchantId] : undefined;
  return suffix === undefined ? {} : { statement_descriptor_suffix: suffix };
}
