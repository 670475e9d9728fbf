/** Further endpoints of a merchant, as merchants and operators see and set them. */
import { z } from 'zod';
import {
  type WebhookEndpoint as CoreEndpoint,
  CreateWebhookEndpointRequestSchema,
  EndpointHeadersSchema,
  EndpointTypesSchema,
  WebhookEndpointSchema,
} from '../../proto/gen/holdfast/v1/webhook_endpoint_pb.js';
import { restName } from '../http/problem.ts';
import { answer } from './answer.ts';
import { defined } from './answer-fields.ts';
import { leastOf, mostOf, pairBounds } from './contract-bounds.ts';
import { SigningSecret, signingSecret } from './merchant.ts';
import { endpointUrl, identifier, textOf } from './request-fields.ts';

export const FurtherEndpoint = answer('FurtherEndpoint', WebhookEndpointSchema, {
  without: ['merchantId'],
  parts: { signingSecrets: SigningSecret },
  own: { warnings: { read: ({ warnings }) => warnings.map(restName) } },
});

export const FurtherEndpoints = z.object({ items: z.array(FurtherEndpoint.schema) }).meta({
  id: 'FurtherEndpoints',
  description: "All endpoints of the merchant: the contract's that have an address, then the others, oldest first",
});

export const endpointsJson = (endpoints: readonly CoreEndpoint[]) => ({ items: endpoints.map(FurtherEndpoint.json) });

/** A new one, with its secret. */
export const CreatedEndpoint = FurtherEndpoint.schema.extend({ signingSecret }).meta({ id: 'CreatedEndpoint' });

const SETTINGS = CreateWebhookEndpointRequestSchema.field;
const [MOST_OF_NAME, MOST_OF_VALUE] = pairBounds(EndpointHeadersSchema.field.headers);
const MOST_HEADERS = mostOf(EndpointHeadersSchema.field.headers);
const MOST_TYPES = mostOf(EndpointTypesSchema.field.types);

const url = endpointUrl('Where its notifications go: an origin with an optional path');

const types = z
  .array(
    z
      .string()
      .regex(
        /^[a-z][a-z_]{0,31}\.([A-Za-z][A-Za-z0-9_-]{0,31}|\*)$/,
        'must be a type such as payment.captured or oct.*',
      ),
  )
  .min(1)
  .max(MOST_TYPES)
  .refine((all) => new Set(all).size === all.length, 'must not name anything twice')
  .meta({
    description: 'The types of notifications that it gets, each exact, or all of a kind',
    examples: [['payment.captured', 'oct.*']],
  });

const headers = z
  .record(
    identifier(MOST_OF_NAME).regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'must be the name of a header'),
    identifier(MOST_OF_VALUE).regex(
      /^[\x21-\x7E]([\x20-\x7E]*[\x21-\x7E])?$/,
      'must be visible characters of ASCII, with spaces only within',
    ),
  )
  .refine((pairs) => Object.keys(pairs).length <= MOST_HEADERS, `must have at most ${MOST_HEADERS} headers`)
  .meta({
    description:
      `Headers of each request to it, at most ${MOST_HEADERS}, such as a bearer token; none that HTTP or Holdfast ` +
      'sets. Kept encrypted, and never shown again',
    examples: [{ authorization: 'Bearer 4f9d' }],
  });

const timeoutSeconds = z.int().min(leastOf(SETTINGS.timeoutSeconds)).max(mostOf(SETTINGS.timeoutSeconds));

const description = textOf(SETTINGS.description).describe('What it is for');

/** The settings of a new endpoint. */
export const newEndpoint = {
  url,
  types: types.optional(),
  description: description.optional(),
  headers: headers.optional(),
  timeoutSeconds: timeoutSeconds.describe('Time limit of an attempt; default 10').optional(),
  purpose: z
    .enum(['merchant', 'internal'])
    .describe(
      'merchant (default): notifications of this service; internal: those that the relay verified, set by operators only',
    )
    .optional(),
};

/** The changed settings of an endpoint; null = as if it had not been set. */
export const changedEndpoint = {
  url: url.optional(),
  types: types.nullable().optional(),
  description: description.nullable().optional(),
  headers: headers.nullable().optional(),
  timeoutSeconds: timeoutSeconds.nullable().describe('Time limit of an attempt; null = 10').optional(),
};

type NewEndpoint = z.output<z.ZodObject<typeof newEndpoint>>;
type ChangedEndpoint = z.output<z.ZodObject<typeof changedEndpoint>>;

/** The settings as core takes them. */
export function newSettings({ types, headers, ...same }: NewEndpoint) {
  return defined({ ...same, types: types && { types }, headers: headers && { headers } });
}

const DEFAULT_TIMEOUT_S = 10;

/** The same of a change. */
export function changedSettings({ url, types, description, headers, timeoutSeconds }: ChangedEndpoint) {
  return defined({
    url,
    types: types === undefined ? undefined : { types: types ?? [] },
    description: description === undefined ? undefined : (description ?? ''),
    headers: headers === undefined ? undefined : { headers: headers ?? {} },
    timeoutSeconds: timeoutSeconds === undefined ? undefined : (timeoutSeconds ?? DEFAULT_TIMEOUT_S),
  });
}

export const TYPES_DESCRIPTION =
  'Refused as INVALID_REQUEST with the nearest known type for an unknown one, for an eleventh endpoint, for one with ' +
  'the address and types of another, and for a header that HTTP or Holdfast sets.';
