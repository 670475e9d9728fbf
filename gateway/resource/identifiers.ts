/** Forms of identifiers (docs/interfaces.md, "Money, identifiers, time"), and of a relayed notification's fields. */
import type { SignedFields } from '../../client/webhooks/signature.ts';
import { CreatePreauthorizationRequestSchema } from '../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { formOf } from './contract-bounds.ts';

const { merchantId, currency } = CreatePreauthorizationRequestSchema.field;

export const MERCHANT_ID = formOf(merchantId);
/** The same in words. */
export const MERCHANT_ID_FORM = 'must be a letter, then at most 31 letters, digits, _ or -';
export const CURRENCY = formOf(currency);
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The id of an endpoint: of the contract's two, or of a further one. */
export const ENDPOINT_ID = /^(default|internal|(webhook|internal)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

export function isRequestId(text: string): boolean {
  return UUID.test(text);
}

export function isPreauthorizationId(text: string): boolean {
  return /^pre_[A-Za-z0-9_-]{32}$/.test(text);
}

/**
 * Why an id cannot name a hold where a preauthorizationId is taken, in a sentence; undefined when it is just unknown.
 */
export function notPreauthorizationId(text: string): string | undefined {
  if (!isRequestId(text)) return undefined;
  return (
    'This is a requestId; preauthorizationId takes the value that begins with pre_, from the answer that placed ' +
    'the hold.'
  );
}

/** The same where a requestId is taken. */
export function notRequestId(text: string): string | undefined {
  if (!isPreauthorizationId(text)) return undefined;
  return 'This is a preauthorizationId; a requestId (a UUID) is taken here. Keep the preauthorizationId out of URLs.';
}

/** The signed fields of a relayed notification, as text (docs/relay.md, "Fields of a relayed notification"). */
export const GRAMMAR: Readonly<Record<keyof SignedFields, RegExp>> = {
  merchantId: MERCHANT_ID,
  requestId: /^[A-Za-z0-9._:-]{1,64}$/,
  status: /^(OK|KO)$/,
  amount: /^[0-9]{1,12}(\.[0-9]{1,4})?$/,
  currency: CURRENCY,
};

/** The same in words. */
export const FORMS: Readonly<Record<keyof SignedFields, string>> = {
  merchantId: MERCHANT_ID_FORM,
  requestId: 'must be 1 to 64 letters, digits, dots, colons, _ or -',
  status: 'must be OK or KO',
  amount: 'must be at most 12 digits, with at most 4 more behind a dot: 1050 or 10.50',
  currency: 'must be three capital letters, such as EUR',
};

/** The last segment of the path: the result in one word. */
export const STATUS_INFO = /^[A-Za-z][A-Za-z0-9_-]{0,31}$/;
