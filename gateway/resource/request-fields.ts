/**
 * Schemas of fields that several requests share. They validate requests, appear in the OpenAPI document, and give the
 * values that core takes.
 */

import type { DescField } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { z } from 'zod';
import { hasCardNumber } from '../../platform/card-number.ts';
import { isCurrency, wasCurrency } from '../../platform/currencies.ts';
import {
  CapturePreauthorizationRequestSchema,
  CreatePreauthorizationRequestSchema,
  ListPreauthorizationsRequestSchema,
} from '../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { leastOf, mostOf, pairBounds } from './contract-bounds.ts';
import { CURRENCY, ENDPOINT_ID, isPreauthorizationId, MERCHANT_ID, MERCHANT_ID_FORM } from './identifiers.ts';

const HOLD = CreatePreauthorizationRequestSchema.field;
const LIST = ListPreauthorizationsRequestSchema.field;

/** Text that PostgreSQL and protobuf store unchanged. */
const storable = (text: string) => !text.includes('\0') && text.isWellFormed();

/** Text of `min` to `max` characters: no NUL, no lone surrogates. */
export const identifier = (max: number, min = 1) =>
  z.string().min(min).max(max, { abort: true }).refine(storable, 'must not contain NUL or unpaired surrogates');

/** Free text, which must not contain a card number either. Text that is too long is not searched. */
export const text = (max: number, min = 1) =>
  identifier(max, min).refine((value) => !hasCardNumber(value), 'must not contain a card number');

/** The same, as long as a field of the contract may be. */
export const identifierOf = (field: DescField) => identifier(mostOf(field), leastOf(field));
export const textOf = (field: DescField) => text(mostOf(field), leastOf(field));

/** The largest amount, minor units. */
export const MOST_AMOUNT = mostOf(HOLD.amount);

/**
 * Money in minor units. `5.0` and `1e2` are rejected before this schema runs, on the source text (http/json-body.ts).
 */
export const amount = z
  .int({ error: amountFault })
  .min(leastOf(HOLD.amount))
  .max(MOST_AMOUNT)
  .meta({ description: 'Amount in minor units of the currency', examples: [4200] })
  .transform(BigInt);

/** The fault of an amount that is no integer, or beyond what a double holds exactly; undefined: as of any number. */
function amountFault({ code, input }: { readonly code?: string; readonly input?: unknown }): string | undefined {
  if (code === 'too_big') return `must be at most ${MOST_AMOUNT}`;
  if (code !== 'invalid_type') return undefined;
  if (typeof input === 'number') return 'must be a whole number of minor units: 10.50 EUR is 1050';
  return typeof input === 'string' ? 'must be a number of minor units, without quotes: 10.50 EUR is 1050' : undefined;
}

/** Selects what one sender of the relay has sent. */
export const ofSender = z
  .guid()
  .toLowerCase()
  .meta({ description: 'Only of this sender', examples: ['0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b'] })
  .optional();

const currencyCode = z.string().regex(CURRENCY, { error: 'must be three capital letters, such as EUR', abort: true });

export const currency = currencyCode
  .refine(isCurrency, 'must be an ISO 4217 code, such as EUR')
  .meta({ description: 'ISO 4217 code that the contract allows', examples: ['EUR'] });

/** A currency, possibly one that ISO 4217 has withdrawn. */
const anyCurrency = currencyCode.refine(wasCurrency, 'must be an ISO 4217 code, such as EUR');

/** The currency that a hold must be in; core compares it with the hold's. */
export const currencyOfHold = anyCurrency
  .meta({ description: "The hold's ISO 4217 code: refused when it is another one", examples: ['EUR'] })
  .optional();

/** The part of a hold to give back. */
export const amountToRelease = amount
  .describe('The part to give back, minor units; absent = all that remains')
  .optional();

export const merchantId = z
  .string()
  .regex(MERCHANT_ID, MERCHANT_ID_FORM)
  .meta({ description: 'Names a merchant', examples: ['acme'] });

export const endpointId = z
  .string()
  .regex(ENDPOINT_ID, 'must be default, internal, or the id of an endpoint')
  .meta({
    description: 'Names an endpoint: default, internal, or a further one',
    examples: ['webhook-0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b'],
  });

/** Of the merchant that asks. */
export const ownMerchantId = merchantId
  .meta({ description: 'May be given; must be the merchant that the API key names', examples: ['acme'] })
  .optional();

export const tokenId = text(128)
  .regex(/^[A-Za-z0-9_-]+$/, 'may have letters, digits, _ and - only')
  .meta({ description: "The customer's card token", examples: ['tok_sandbox_ok'] });

/** This and the next two may look like a card number where the contract says so, which core knows. */
export const terminalId = identifier(64)
  .regex(/^[A-Za-z0-9._-]+$/, 'may have letters, digits, dot, _ and - only')
  .meta({ description: "One of the merchant's terminals", examples: ['T1'] });

export const userId = identifierOf(HOLD.userId).meta({ description: "The merchant's user", examples: ['user-1'] });

export const merchantReference = identifierOf(HOLD.merchantReference).meta({
  description: "The merchant's own reference",
  examples: ['order-1001'],
});

export const description = textOf(HOLD.description).meta({
  description: 'What the hold is for: shown at the checkout, to the processor and to operators',
  examples: ['Room 12, two nights'],
});

const MOST_PAIRS = mostOf(HOLD.metadata);
const [MOST_OF_KEY, MOST_OF_VALUE] = pairBounds(HOLD.metadata);

export const metadata = z
  .record(
    text(MOST_OF_KEY),
    z
      .string()
      .max(MOST_OF_VALUE)
      .and(text(MOST_OF_VALUE).or(z.literal(''))),
  )
  .refine((pairs) => Object.keys(pairs).length <= MOST_PAIRS, `must have at most ${MOST_PAIRS} pairs`)
  .describe(
    `The merchant's own data: at most ${MOST_PAIRS} pairs, keys to ${MOST_OF_KEY} and values to ${MOST_OF_VALUE} ` +
      'characters, 16 384 bytes in UTF-8 in all',
  );

/** A merchant's own data about an operation: kept with it, and shown with its result. */
export const words = {
  merchantReference: merchantReference
    .meta({
      description: "The merchant's own reference of this operation; without it, the hold's",
      examples: ['parcel-1'],
    })
    .optional(),
  metadata: metadata.optional(),
  reason: textOf(CapturePreauthorizationRequestSchema.field.reason)
    .meta({ description: 'Why it is done', examples: ['The first parcel has left'] })
    .optional(),
};

/** Sensitive. The schema does not check its form: a malformed id is answered like an unknown one. */
export const preauthorizationId = z.string().meta({
  description: 'Handle of the hold, as the answer that placed it gave it. Sensitive: keep it like a password',
  examples: ['pre_3q2-7wQx0nV5bYk8Jm1ZcR4tLh6sDfGa'],
});

/**
 * The requestId of another operation, in any case (RFC 9562). As above, a malformed id is answered like an unknown one.
 */
export const requestId = z
  .string()
  .toLowerCase()
  .meta({ description: 'Names an operation (UUIDv7)', examples: ['0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b'] });

/** The same as a filter. A preauthorizationId is refused by name: it does not belong in a URL. */
export const requestIdFilter = requestId.refine(
  (text) => !isPreauthorizationId(text),
  'is a preauthorizationId; give the requestId, and keep the preauthorizationId out of URLs',
);

/** The URL of an endpoint. Only its form is checked here; its destination is checked before each delivery attempt. */
export const endpointUrl = (description: string) =>
  text(2048).meta({ description, examples: ['https://merchant.example/hooks'] });

/** The instants that RFC 3339 can write in UTC, from the epoch on. */
function isStorable(instant: Date): boolean {
  return instant.getTime() >= 0 && instant.getUTCFullYear() <= 9999;
}

export const time = z.iso
  .datetime({
    offset: true,
    error: ({ input }) =>
      input === undefined ? 'is required' : 'must be an RFC 3339 time with its zone, such as 2026-11-21T12:00:00Z',
  })
  .refine((value) => isStorable(new Date(value)), 'must be in the years 1970 to 9999, in UTC')
  .meta({ description: 'RFC 3339 time', examples: ['2026-11-21T12:00:00.000Z'] })
  .transform((text) => timestampFromDate(new Date(text)));

/** The beginning of a time, and its end, which does not count. */
export const timeFrom = time.describe('At this time or later');
export const timeBefore = time.describe('Before this time');

/** A whole number among the query parameters, which are text. */
export const queryInteger = (min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.preprocess(integerIn, z.int({ error }).min(min, { error }).max(max, { error }));
};

function integerIn(text: unknown): unknown {
  return typeof text === 'string' && /^[0-9]{1,15}$/.test(text) ? Number(text) : text;
}

/** The filters of lists of holds and operations, from query parameters. */
export const filters = {
  userId: userId.optional(),
  merchantReference: merchantReference.optional(),
  cardLast4: z
    .string()
    .regex(/^[0-9]{4}$/, 'must be four digits')
    .meta({ description: 'Only with a card that ends so', examples: ['4242'] })
    .optional(),
  amountFrom: minorUnits('Only of this amount or more'),
  amountTo: minorUnits('Only of this amount or less'),
  currency: anyCurrency.meta({ description: 'Only in this currency', examples: ['EUR'] }).optional(),
};

function minorUnits(description: string) {
  return queryInteger(leastOf(HOLD.amount), MOST_AMOUNT)
    .transform(BigInt)
    .meta({ description: `${description}, minor units`, examples: [4200] })
    .optional();
}

const MOST_ON_PAGE = mostOf(LIST.pageSize);

/** A page of a list (AIP-158), from query parameters. */
export const page = {
  pageSize: queryInteger(1, MOST_ON_PAGE)
    .meta({ description: `Items per page, 1 to ${MOST_ON_PAGE}`, examples: [50] })
    .optional(),
  pageToken: identifierOf(LIST.pageToken).describe('nextPageToken of the page before').optional(),
};

/** The body of a command without fields. */
export const NoBody = z.strictObject({}).meta({ id: 'NoBody' });
