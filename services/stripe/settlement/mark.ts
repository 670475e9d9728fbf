/** What Holdfast writes into Stripe's objects, so that they say by themselves what they are about. */
import type Stripe from 'stripe';
import { UUID } from '../../../platform/adapter/identifier.ts';
import type { Entry } from '../ledger/entry.ts';

type Metadata = Stripe.Metadata | null | undefined;

/** Names our identifier in the metadata of a PaymentIntent, Checkout Session or Refund. */
export const REQUEST_ID = 'holdfast_request_id';

/** Metadata of an authorization's PaymentIntent, or of its Checkout Session. */
export function metadataOf(entry: Entry): Stripe.MetadataParam {
  const { requestId, merchantId, terminalId, userId, tokenId, merchantReference, operationRequestId, memo } = entry;
  return {
    [REQUEST_ID]: requestId,
    holdfast_merchant_id: merchantId,
    holdfast_terminal_id: terminalId,
    holdfast_user_id: userId,
    holdfast_token_id: tokenId,
    holdfast_merchant_reference: merchantReference,
    holdfast_operation_request_id: operationRequestId,
    holdfast_memo: memo,
  };
}

/** The authorization that an object of Stripe's is for; undefined when it is none of ours. */
export function authorizationOf(metadata: Metadata) {
  const requestId = metadata?.[REQUEST_ID];
  if (requestId === undefined || !UUID.test(requestId)) return undefined;
  return {
    requestId,
    merchantId: metadata?.holdfast_merchant_id ?? '',
    terminalId: metadata?.holdfast_terminal_id ?? '',
    userId: metadata?.holdfast_user_id ?? '',
    tokenId: metadata?.holdfast_token_id ?? '',
    merchantReference: metadata?.holdfast_merchant_reference ?? '',
    operationRequestId: metadata?.holdfast_operation_request_id ?? '',
    memo: metadata?.holdfast_memo ?? '',
  };
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
