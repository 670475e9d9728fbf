/** Forms of a relayed notification's fields (docs/product.md, "Fields of a relayed notification"). */
import type { SignedFields } from '../../webhooks/signature.ts';
import { MERCHANT_ID, MERCHANT_ID_FORM } from './identifiers.ts';

/** The signed fields, as text. */
export const GRAMMAR: Readonly<Record<keyof SignedFields, RegExp>> = {
  merchantId: MERCHANT_ID,
  requestId: /^[A-Za-z0-9._:-]{1,64}$/,
  status: /^(OK|KO)$/,
  amount: /^[0-9]{1,12}(\.[0-9]{1,4})?$/,
  currency: /^[A-Z]{3}$/,
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
