/** Fields that several requests share: what is valid, said once. They also become the OpenAPI document. */
import currencyCodes from 'currency-codes';
import { z } from 'zod';
import { hasCardNumber } from '../../../proto/card-number.ts';
import { MERCHANT_ID } from '../../merchant-id.ts';

const CURRENCIES: ReadonlySet<string> = new Set(currencyCodes.codes());

/** A text that PostgreSQL and protobuf can keep as it is. */
const storable = (text: string) => !text.includes('\0') && text.isWellFormed();

/** Free text of `min` to `max` characters: no NUL, no lone surrogates, no card numbers. A longer one is not searched for them. */
export const text = (max: number, min = 1) =>
  z
    .string()
    .min(min)
    .max(max, { abort: true })
    .refine(storable, 'must not contain NUL or unpaired surrogates')
    .refine((value) => !hasCardNumber(value), 'must not contain a card number');

/** Money in minor units. That it is written as a plain integer is checked on its source text (read-body.ts). */
export const amount = z
  .int('must be a plain integer')
  .min(1)
  .max(999_999_999_999)
  .meta({ description: 'Amount in minor units of the currency', examples: [4200] });

export const currency = z
  .string()
  .regex(/^[A-Z]{3}$/, 'must be three capital letters')
  .refine((code) => CURRENCIES.has(code), 'must be an ISO 4217 code')
  .meta({ description: 'ISO 4217 code that the contract allows', examples: ['EUR'] });

export const merchantId = z
  .string()
  .regex(MERCHANT_ID)
  .meta({ description: 'May be given; must be the merchant that the API key names', examples: ['acme'] });

export const tokenId = text(128)
  .regex(/^[A-Za-z0-9_-]+$/)
  .meta({ description: "The customer's card token", examples: ['tok_sandbox_ok'] });

export const terminalId = text(64)
  .regex(/^[A-Za-z0-9._-]+$/)
  .meta({ description: "One of the merchant's terminals", examples: ['T1'] });

export const userId = text(64).meta({ description: "The merchant's user", examples: ['user-1'] });

export const merchantReference = text(64).meta({
  description: "The merchant's own reference",
  examples: ['order-1001'],
});

/** Sensitive. Its form is not checked here: a malformed one is answered like one that does not exist. */
export const preauthorizationId = z.string().meta({
  description: 'Handle of the hold, as the answer that placed it gave it. Sensitive: keep it like a password',
  examples: ['pre_3q2-7wQx0nV5bYk8Jm1ZcR4tLh6sDfGa'],
});

/** A requestId that names something else than the request it stands in. As above, a malformed one is one that does not exist. */
export const requestId = z
  .string()
  .meta({ description: 'Names an operation (UUIDv7)', examples: ['0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b'] });

export const time = z.iso
  .datetime({ offset: true, error: 'must be an RFC 3339 time' })
  .refine((value) => new Date(value).getTime() >= 0, 'must not be before 1970')
  .meta({ description: 'RFC 3339 time', examples: ['2026-11-21T12:00:00.000Z'] });

/** A page of a list (AIP-158), from query parameters. */
export const page = {
  pageSize: z
    .string()
    .regex(/^(?:[1-9][0-9]?|1[0-9]{2}|200)$/, 'must be 1 to 200')
    .meta({ description: 'Items per page, 1 to 200', examples: ['50'] })
    .optional(),
  pageToken: text(512).meta({ description: 'nextPageToken of the page before' }).optional(),
};

/** The query of a route that takes none. */
export const NoQuery = z.strictObject({});
