import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import {
  resultOf as formOf,
  type KeptResult,
  type Kind,
  keptFields,
  NO_RESULT,
  type ResultInit,
} from '../../../platform/adapter/entry.ts';
import { openBooks } from '../../../platform/adapter/postgres/books.ts';
import type { Query, Statement } from '../../../platform/adapter/postgres/database.ts';
import * as base from '../../../platform/adapter/postgres/entries.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { ENTRY_ORDER_LOCK } from './migrations.ts';

/** What was asked under an identifier. An account is Stripe's `acct_…`. */
export interface Intent extends base.Intent {
  readonly merchantName: string;
  /** What the hold is for; empty = not said. */
  readonly description: string;
  /** False = the merchant initiates it. */
  readonly customerPresent: boolean;
  /** When the merchant expects to capture; null = not said. */
  readonly expectedCaptureAt: Date | null;
  readonly returnUrl: string;
  readonly saveCard: boolean;
}

/** Default values of what Stripe is asked besides. */
const NO_TERMS: Omit<Intent, keyof base.Intent> = {
  merchantName: '',
  description: '',
  customerPresent: false,
  expectedCaptureAt: null,
  returnUrl: '',
  saveCard: false,
};

/** What a request asks. */
export function intentOf<K extends Kind>(kind: K, request: object): Intent & { readonly kind: K } {
  const { expectedCaptureAt } = request as { expectedCaptureAt?: Timestamp };
  const said = expectedCaptureAt ? timestampDate(expectedCaptureAt) : null;
  return { ...keptFields({ ...base.NO_INTENT, ...NO_TERMS }, request), expectedCaptureAt: said, kind };
}

/** What an ending says. */
interface Outcome extends KeptResult {
  readonly expiresAt: Date | null;
  readonly expectedBy: Date | null;
  readonly severalCaptures: boolean;
  readonly increments: boolean;
  /** Given back of the reservation by this capture or void, minor units. */
  readonly released: bigint;
}

/** How it ended. ACCEPTED = taken, the end follows. */
export type Ending = KeptResult & Partial<Outcome>;

/** Default values of an ending. */
const NO_OUTCOME: Outcome = {
  ...NO_RESULT,
  expiresAt: null,
  expectedBy: null,
  severalCaptures: false,
  increments: false,
  released: 0n,
};

/** One row. Its answer is UNSPECIFIED until it ended. */
export interface Entry extends Intent, Outcome, base.State, base.Numbered {
  /**
   * `stored`: nothing was asked of Stripe that acts. `sent`: perhaps it was. `fencing`: it is being made impossible.
   */
  readonly stage: 'stored' | 'sent' | 'fencing' | 'ended';
  readonly intentId: string | null;
  readonly sessionId: string | null;
  readonly refundId: string | null;
  /** Where a checkout that names no address ends; stored, because what is sent again must be the same. */
  readonly closingUrl: string | null;
  /** Of a capture or void: what was captured before it; of an increment: the amount before it. */
  readonly baseline: bigint;
  /** When Stripe is asked whether it has changed there; null = it cannot. */
  readonly lookAt: Date | null;
}

/** The contract's form of how an entry ended. */
export function resultOf(entry: Entry): ResultInit {
  const { severalCaptures, increments } = entry;
  return formOf({ ...entry, capabilities: { severalCaptures, increments, extension: false, refunds: true } });
}

const DEFAULTS: Omit<Entry, keyof base.Intent | keyof base.Numbered> = {
  ...base.NO_STATE,
  ...NO_TERMS,
  ...NO_OUTCOME,
  stage: 'stored',
  intentId: null,
  sessionId: null,
  refundId: null,
  closingUrl: null,
  baseline: 0n,
  lookAt: null,
};
const entries = base.openEntries<Entry>('stripe', DEFAULTS, ENTRY_ORDER_LOCK);
const COLUMNS = entries.columns;
const OUTCOME_FIELDS = Object.keys(NO_OUTCOME) as (keyof Outcome)[];

export const { find: findEntry, list: listEntries, ofAuthorization: entriesOf } = entries;

export const BOOKS = openBooks('stripe');

/** How a new entry begins. */
export type Beginning = Partial<Pick<Entry, 'stage' | 'sentAt' | 'closingUrl' | 'baseline' | 'expiresAt'>>;

/** Stores an intent; undefined when the identifier is known already. */
export function insertEntry(query: Query, intent: Intent, begins: Beginning = {}): Promise<Entry | undefined> {
  // A checkout is looked at from the beginning, what else may change at Stripe from when Stripe has answered.
  const lookAt = intent.kind === 'checkout' ? (begins.sentAt ?? null) : null;
  return entries.insert(query, intent, { ...begins, lookAt });
}

const MARK: Statement = {
  name: 'mark_entry',
  text: `UPDATE stripe.entry SET stage = $3, intent_id = coalesce($4, intent_id), session_id = coalesce($5, session_id),
      sent_at = coalesce(sent_at, $6)
    WHERE request_id = $1 AND stage = ANY ($2::text[]) RETURNING ${COLUMNS}`,
};

/** Moves an entry to a stage, when it is in one of `from`; undefined when it is not. */
export async function markEntry(
  query: Query,
  requestId: string,
  from: readonly Entry['stage'][],
  to: { stage: Entry['stage']; intentId?: string | null; sessionId?: string; sentAt?: Date },
): Promise<Entry | undefined> {
  const { stage, intentId = null, sessionId = null, sentAt = null } = to;
  const [entry] = await query<Entry>(MARK, [requestId, from, stage, intentId, sessionId, sentAt]);
  return entry;
}

const END: Statement = {
  name: 'end_entry',
  // $6 is the answer, the first of the ending's fields.
  text: `UPDATE stripe.entry SET stage = CASE $6::smallint WHEN ${Answer.ACCEPTED} THEN 'sent' ELSE 'ended' END,
    acted_at = $5::timestamptz,
      intent_id = coalesce($3, intent_id), refund_id = coalesce($4, refund_id),
      ${OUTCOME_FIELDS.map((field, index) => `${base.column(field)} = $${index + 6}`).join(', ')},
      look_at = CASE WHEN $6::smallint IN (${Answer.APPROVED}, ${Answer.ACCEPTED})
        AND kind IN ('authorization', 'checkout', 'refund') THEN $5::timestamptz + interval '5 min' END
    WHERE request_id = $1 AND stage = ANY ($2::text[]) RETURNING ${COLUMNS}`,
};

/** What an ending says besides. */
export interface Found {
  readonly intentId?: string | null;
  readonly refundId?: string | null;
}

/**
 * Ends an entry, or says that it was accepted, when it is in one of `from`; undefined when another process ended it
 * before.
 */
export async function endEntry(
  query: Query,
  requestId: string,
  from: readonly Entry['stage'][],
  ending: Ending,
  at: Date,
  { intentId = null, refundId = null }: Found = {},
): Promise<Entry | undefined> {
  const outcome = { ...NO_OUTCOME, ...ending };
  const fields = OUTCOME_FIELDS.map((field) => outcome[field]);
  const [entry] = await query<Entry>(END, [requestId, from, intentId, refundId, at, ...fields]);
  return entry;
}

const FORGET_FENCE: Statement = {
  name: 'forget_fence',
  text: `DELETE FROM stripe.entry WHERE request_id = $1 AND kind = 'fence'`,
};

/** Forgets that an identifier was fenced, because Stripe has done what was asked under it. */
export async function forgetFence(query: Query, requestId: string): Promise<void> {
  await query(FORGET_FENCE, [requestId]);
}

const BY_STRIPE: Statement = {
  name: 'entry_by_stripe_id',
  text: `SELECT ${COLUMNS} FROM stripe.entry
    WHERE (intent_id = $1 AND kind IN ('authorization', 'checkout') OR session_id = $1) AND account = $2`,
};

/** The authorization that a PaymentIntent or Checkout Session belongs to. */
export async function findByStripeId(query: Query, stripeId: string, account: string): Promise<Entry | undefined> {
  const [entry] = await query<Entry>(BY_STRIPE, [stripeId, account]);
  return entry;
}

const OWNER: Statement = {
  name: 'owner_of_token',
  text: `SELECT merchant_id AS "merchantId", account FROM stripe.entry WHERE generated_token_id = $1 LIMIT 1`,
};

/** For whom a token was generated; undefined when it was not generated here. */
export async function ownerOfToken(
  query: Query,
  tokenId: string,
): Promise<Pick<Entry, 'merchantId' | 'account'> | undefined> {
  const [owner] = await query<Entry>(OWNER, [tokenId]);
  return owner;
}
