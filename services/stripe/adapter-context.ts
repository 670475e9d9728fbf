import type Stripe from 'stripe';
import type { Database } from '../../platform/adapter/postgres/database.ts';
import type { Leases } from '../../platform/adapter/postgres/lease.ts';
import type { Log } from '../../platform/log.ts';
import type { Patience } from './api/ask.ts';
import type { Reach } from './crash-points.ts';

/** What every call works with. */
export interface Context {
  readonly database: Database;
  readonly leases: Leases;
  readonly stripe: Stripe;
  /** Which half of the account the API key is for. */
  readonly mode: 'live' | 'test';
  readonly patience: Patience;
  readonly log: Log;
  readonly now: () => Date;
  readonly reach: Reach;
  /** Where a customer goes after a checkout that names no address. */
  readonly closingUrl: string;
  /** What follows the account's name on a customer's statement, by merchant. */
  readonly statementSuffixes: Readonly<Record<string, string>>;
  /** Called when there may be a new event to report. */
  readonly onEvent: () => void;
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
