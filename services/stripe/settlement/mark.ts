/** What Holdfast writes into Stripe's objects, so that they say by themselves what they are about. */
import type Stripe from 'stripe';
import { UUID } from '../../../platform/adapter/identifier.ts';
import type { Entry } from '../ledger/entry.ts';

/** Names our identifier in the metadata of a PaymentIntent, Checkout Session or Refund. */
export const REQUEST_ID = 'holdfast_request_id';

/** Where Stripe's metadata has the fields of an authorization. */
const KEYS = {
  requestId: REQUEST_ID,
  merchantId: 'holdfast_merchant_id',
  terminalId: 'holdfast_terminal_id',
  userId: 'holdfast_user_id',
  tokenId: 'holdfast_token_id',
  merchantReference: 'holdfast_merchant_reference',
  operationRequestId: 'holdfast_operation_request_id',
  memo: 'holdfast_memo',
  renews: 'holdfast_renews',
} as const satisfies { readonly [Field in keyof Entry]?: string };
type Named = Record<keyof typeof KEYS, string>;
const FIELDS = Object.keys(KEYS) as (keyof Named)[];

/** Metadata of an authorization's PaymentIntent, or of its Checkout Session. */
export function metadataOf(entry: Named): Stripe.MetadataParam {
  // The release before knew no renewals, and what is sent again under its key must be the same.
  const fields = FIELDS.filter((field) => field !== 'renews' || entry.renews !== '');
  return Object.fromEntries(fields.map((field) => [KEYS[field], entry[field]]));
}

/** The authorization that an object of Stripe's is for; undefined when it is none of ours. */
export function authorizationOf(metadata: Stripe.Metadata | null | undefined): Named | undefined {
  if (!metadata || !UUID.test(metadata[REQUEST_ID] ?? '')) return undefined;
  return Object.fromEntries(FIELDS.map((field) => [field, metadata[KEYS[field]] ?? ''])) as Named;
}

/** What an operation leaves in the metadata of its PaymentIntent, in the request that does it. */
export interface Mark {
  readonly requestId: string;
  readonly kind: 'capture' | 'increment' | 'void';
  /** Minor units. */
  readonly amount: bigint;
  readonly isFinal: boolean;
}

/** Stripe keeps 50 metadata keys; some are left for what others write. */
export const MOST_MARKS = 40;

const KINDS = ['increment', 'capture', 'void'] as const;

/** The mark of an operation, as metadata. */
export function markOf({ requestId, kind, amount, isFinal }: Omit<Mark, 'kind'> & Pick<Entry, 'kind'>) {
  return { [`hf_${requestId}`]: `${kind} ${amount}${isFinal ? ' final' : ''}` };
}

export function hasMark({ metadata }: Stripe.PaymentIntent, requestId: string): boolean {
  return metadata[`hf_${requestId}`] !== undefined;
}

/** What was done to a PaymentIntent, in an order in which it can be booked. */
export function marksOf({ metadata }: Stripe.PaymentIntent): Mark[] {
  const marks = Object.entries(metadata).flatMap(([key, value]) => {
    const [, kind, amount, final] = /^(capture|increment|void) (\d{1,12})( final)?$/.exec(value) ?? [];
    if (!key.startsWith('hf_') || !UUID.test(key.slice(3)) || amount === undefined) return [];
    return [
      { requestId: key.slice(3), kind: kind as Mark['kind'], amount: BigInt(amount), isFinal: final !== undefined },
    ];
  });
  return marks.sort((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || Number(a.isFinal) - Number(b.isFinal));
}
