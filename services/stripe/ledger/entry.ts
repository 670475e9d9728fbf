import { timestampDate } from '@bufbuild/protobuf/wkt';
import {
  resultOf as formOf,
  type KeptResult,
  type Kind,
  keptFields,
  type ResultInit,
} from '../../../platform/adapter/entry.ts';
import type { Query } from '../../../platform/adapter/postgres/database.ts';
import * as base from '../../../platform/adapter/postgres/entries.ts';
import { type AuthorizeRequest, ThreeDSecure } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { STRIPE_SCHEMA } from './schema.ts';

/** Default values of what Stripe is asked besides. */
const NO_TERMS = {
  merchantName: '',
  /** What the hold is for; empty = not said. */
  description: '',
  /** False = the merchant initiates it. */
  customerPresent: false,
  /** When the merchant expects to capture; null = not said. */
  expectedCaptureAt: null as Date | null,
  returnUrl: '',
  /** The issuer authenticates the customer in any case. */
  challenge: false,
  saveCard: false,
};

/** What was asked under an identifier. An account is Stripe's `acct_…`. */
export interface Intent extends base.Intent, Readonly<typeof NO_TERMS> {}

/** What a request asks. */
export function intentOf<K extends Kind>(kind: K, request: object): Intent & { readonly kind: K } {
  const { expectedCaptureAt, threeDSecure } = request as Partial<AuthorizeRequest>;
  const said = expectedCaptureAt ? timestampDate(expectedCaptureAt) : null;
  const challenge = threeDSecure === ThreeDSecure.CHALLENGE;
  return { ...keptFields({ ...base.NO_INTENT, ...NO_TERMS }, request), expectedCaptureAt: said, challenge, kind };
}

/** Default values of what an ending says besides its result. */
export const NO_ENDING = {
  expiresAt: null as Date | null,
  expectedBy: null as Date | null,
  /** Where the customer of an authorization is authenticated, while it waits for that. */
  actionUrl: null as string | null,
  severalCaptures: false,
  increments: false,
  /** Given back of the reservation by this capture or void, minor units. */
  released: 0n,
};

/** Names that Stripe gave. */
const NO_IDS = {
  intentId: null as string | null,
  refundId: null as string | null,
};

/** How it ended. ACCEPTED = taken, the end follows. */
export type Ending = KeptResult & Partial<Readonly<typeof NO_ENDING & typeof NO_IDS>>;

const DEFAULTS = {
  ...base.NO_STATE,
  ...NO_TERMS,
  ...NO_ENDING,
  ...NO_IDS,
  /**
   * `stored`: nothing was asked of Stripe that acts. `sent`: perhaps it was. `fencing`: it is being made impossible.
   */
  stage: 'stored' as 'stored' | 'sent' | 'fencing' | 'ended',
  sessionId: null as string | null,
  /** Where a checkout that names no address ends; stored, because what is sent again must be the same. */
  closingUrl: null as string | null,
  /** Of a capture or void: what was captured before it; of an increment: the amount before it. */
  baseline: 0n,
  /** When Stripe is asked whether it has changed there; null = it cannot. */
  lookAt: null as Date | null,
};

/** One row. Its answer is UNSPECIFIED until it ended. */
export interface Entry extends base.Intent, Readonly<typeof DEFAULTS>, base.Numbered {}

export type Stages = readonly Entry['stage'][];

/** The contract's form of how an entry ended. Stripe's capture_before is both its end and the guarantee. */
export function resultOf(entry: Entry): ResultInit {
  const { severalCaptures, increments, expiresAt: guaranteedUntil, actionUrl } = entry;
  const capabilities = { severalCaptures, increments, extension: false, refunds: true, partialRelease: false };
  const page = actionUrl === null ? undefined : { url: actionUrl, expiresAt: entry.expiresAt };
  return formOf({ ...entry, guaranteedUntil, capabilities, page });
}

export const ENTRIES = base.openEntries<Entry>(STRIPE_SCHEMA, DEFAULTS);

/** Changes an entry when it is in one of the stages; undefined when it is not. */
export function markEntry(
  query: Query,
  requestId: string,
  from: Stages,
  change: base.Change<Entry>,
): Promise<Entry | undefined> {
  return ENTRIES.update(query, 'request_id = $1 AND stage = ANY ($2::text[])', [requestId, from], change);
}

/**
 * Stores what Stripe has done and the ledger does not have, or has only fenced; undefined when the ledger has its
 * entry.
 */
export async function insertUnfenced(query: Query, intent: Intent, state?: Partial<Entry>): Promise<Entry | undefined> {
  await query(`DELETE FROM entry WHERE request_id = $1 AND kind = 'fence'`, [intent.requestId]);
  return ENTRIES.insert(query, intent, state);
}

/** The authorization that a PaymentIntent or Checkout Session belongs to. */
export async function findByStripeId(query: Query, stripeId: string, account: string): Promise<Entry | undefined> {
  const where = `(intent_id = $1 AND kind IN ('authorization', 'checkout') OR session_id = $1) AND account = $2`;
  return (await ENTRIES.select(query, where, [stripeId, account]))[0];
}

/** For whom a token was generated; undefined when it was not generated here. */
export async function ownerOfToken(
  query: Query,
  tokenId: string,
): Promise<Pick<Entry, 'merchantId' | 'account'> | undefined> {
  const text = `SELECT merchant_id AS "merchantId", account FROM entry WHERE generated_token_id = $1 LIMIT 1`;
  return (await query<Entry>(text, [tokenId]))[0];
}
