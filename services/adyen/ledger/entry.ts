import { type Kind, keptFields } from '../../../platform/adapter/entry.ts';
import type { Query } from '../../../platform/adapter/postgres/database.ts';
import * as base from '../../../platform/adapter/postgres/entries.ts';
import { type AuthorizeRequest, ThreeDSecure } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { ADYEN_SCHEMA } from './schema.ts';

/** Default values of what Adyen is asked besides. */
const NO_TERMS = {
  /** The customer takes part; false = the merchant initiates it. */
  customerPresent: false,
  /** Why the merchant initiates it: a MerchantReason. */
  merchantReason: 0,
  /** The way back of a customer whose issuer authenticates it; empty = it cannot be sent anywhere. */
  returnUrl: '',
  /** The issuer authenticates the customer in any case. */
  challenge: false,
};

/** What was asked under an identifier. */
export interface Intent extends base.Intent, Readonly<typeof NO_TERMS> {}

/** What a request asks. */
export function intentOf(kind: Kind, request: object): Intent {
  const challenge = (request as Partial<AuthorizeRequest>).threeDSecure === ThreeDSecure.CHALLENGE;
  return { ...keptFields({ ...base.NO_INTENT, ...NO_TERMS }, request), challenge, kind };
}

/** What Adyen asks of a customer's browser, in its own words, and the customer's address. */
export interface Browser {
  readonly browserInfo: Readonly<Record<string, string | number | boolean>>;
  /** Absent = not known. */
  readonly shopperIP?: string | undefined;
}

/** Where Adyen sends the customer of a payment. */
export interface Action {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  /** Fields of the form, when it is posted. */
  readonly data: Readonly<Record<string, string>>;
}

/** How far an authorization is whose customer takes part. */
export type Stage =
  /** It has no step-up. */
  | ''
  /** Its page waits for the customer; nothing was sent to Adyen. */
  | 'page'
  /** The customer's browser is known, and Adyen is asked, or about to be. */
  | 'sent'
  /** Adyen sends the customer to the issuer. */
  | 'redirected'
  /** The customer came back, and Adyen is asked how it ended, or about to be. */
  | 'returned'
  /** Adyen notifies how it ended. */
  | 'pending';

const NO_STATE = {
  ...base.NO_STATE,
  /** Adyen's reference of the payment, or of the modification. */
  pspReference: '',
  /** What Adyen did in truth, minor units; null = what was asked for. */
  amountDone: null as bigint | null,
  /** Of an increment, decrease or extension: the amount that it asks Adyen for. */
  total: 0n,
  /** When it is sent again, under its key, unless Adyen has answered by then. */
  dueAt: null as Date | null,
  attempts: 0,
  stage: '' as Stage,
  /** When the page of a step-up closes. */
  pageEndsAt: null as Date | null,
  /** Kept until the authorization ends. */
  browser: null as Browser | null,
  action: null as Action | null,
  redirectResult: '',
};

/**
 * What became of an identifier. Its answer is UNSPECIFIED until Adyen has answered, and ACCEPTED until Adyen has
 * notified how it ended.
 */
export type State = Readonly<typeof NO_STATE>;

/** One row. */
export interface Entry extends Intent, State, base.Numbered {}

export const ENTRIES = base.openEntries<Entry>(ADYEN_SCHEMA, { ...NO_STATE, ...NO_TERMS });

/** The payment or modification that Adyen names so. */
export async function findByPspReference(query: Query, pspReference: string): Promise<Entry | undefined> {
  if (pspReference === '') return undefined;
  return (await ENTRIES.select(query, 'psp_reference = $1 ORDER BY sequence LIMIT 1', [pspReference]))[0];
}

/** Takes entries that Adyen has not answered and that are due to be sent again, and puts their next time off. */
export async function takeUnanswered(query: Query, now: Date, limit: number): Promise<string[]> {
  const text = `UPDATE entry SET attempts = attempts + 1,
      due_at = $1::timestamptz + least(3600, 2 ^ least(attempts, 12)) * interval '1 s'
    WHERE sequence IN (SELECT sequence FROM entry WHERE due_at <= $1 ORDER BY due_at LIMIT $2
      FOR UPDATE SKIP LOCKED)
    RETURNING request_id AS "requestId"`;
  return (await query<{ requestId: string }>(text, [now, limit])).map(({ requestId }) => requestId);
}
