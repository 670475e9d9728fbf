/** Senders of the relay: what merchants and operators send of them, and see. */
import { z } from 'zod';
import {
  type RelaySender as CoreSender,
  CreateRelaySenderRequestSchema,
  type ListRelaySendersResponse,
  RelayKeySchema,
  RelaySenderSchema,
  RelaySenderSettingsSchema,
} from '../../proto/gen/holdfast/v1/relay_pb.js';
import { isServiceError, Problem, problemOfRpc } from '../http/problem.ts';
import { answer } from './answer.ts';
import { answered, defined } from './answer-fields.ts';
import { formOf, leastOf, mostOf } from './contract-bounds.ts';
import { identifier, text } from './request-fields.ts';

const SETTINGS = RelaySenderSettingsSchema.field;
const MOST_KEYS = mostOf(CreateRelaySenderRequestSchema.field.keys);

const Settings = answer(undefined, RelaySenderSettingsSchema);
const Key = answer('RelayKey', RelayKeySchema);
const Sender = answer(undefined, RelaySenderSchema, { without: ['settings', 'merchantId'], parts: { keys: Key } });

const schema = z
  .object({ ...Sender.schema.shape, ...Settings.schema.shape })
  .meta({ id: 'RelaySender', description: 'A sender whose notifications the relay takes' });

/** A sender with its settings beside its name; never a secret. */
export const RelaySender = {
  schema,
  json: (sender: CoreSender | undefined) => ({
    ...Sender.json(sender),
    ...Settings.json(answered(answered(sender).settings)),
  }),
};

/** All senders of a merchant: they are few, so there are no pages. */
export const RelaySenders = {
  schema: z.object({ items: z.array(schema) }).meta({ id: 'RelaySenders', description: 'Oldest first' }),
  json: ({ senders }: ListRelaySendersResponse) => ({ items: senders.map(RelaySender.json) }),
};

const header = (description: string) =>
  z
    .string()
    .min(1)
    .regex(formOf(SETTINGS.header), 'must be the name of a header: a letter, then at most 63 letters, digits or -')
    .describe(description)
    .optional();

const settings = {
  name: text(mostOf(SETTINGS.name))
    .regex(formOf(SETTINGS.name), 'must not contain control characters')
    .meta({ description: 'Name for people', examples: ['GitHub'] }),
  header: header('The header with the signature; needed by hmac-sha256-body and ed25519-body'),
  encoding: z.enum(['hex', 'base64']).describe('How the signature is written; needed with `header`').optional(),
  prefix: z
    .string()
    .regex(/^[!-~]{1,16}$/, 'must be 1 to 16 visible characters of ASCII')
    .describe('What stands before the signature in its header, such as `sha256=`')
    .optional(),
  timestamped: z
    .boolean()
    .describe('The header is `t=SECONDS,v1=SIGNATURE`; SECONDS, a dot and the body are signed. hmac-sha256-body only')
    .optional(),
  idHeader: header('The header that identifies a notification; absent = `idPointer`, or the hash of the body'),
  idPointer: identifier(mostOf(SETTINGS.idPointer))
    .regex(formOf(SETTINGS.idPointer), 'must be a JSON pointer such as /id')
    .describe('JSON pointer (RFC 6901) to what identifies a notification in its body')
    .optional(),
  typeHeader: header('The header with the type of a notification; absent = the member `type` of its body'),
  toleranceSeconds: z
    .int()
    .min(1)
    .max(mostOf(SETTINGS.toleranceSeconds))
    .describe('Greatest age of a notification whose time is signed; default 300')
    .optional(),
  internalTypes: z
    .array(
      z
        .string()
        .max(128)
        .regex(
          /^([A-Za-z0-9_:/-]{1,64}\.){0,8}([A-Za-z0-9_:/-]{1,64}|\*)$/,
          'must be a type such as invoice.paid, or the start of some, such as invoice.*',
        ),
    )
    .max(mostOf(SETTINGS.internalTypes))
    .refine((types) => new Set(types).size === types.length, 'must not name anything twice')
    .describe('The types that are forwarded to the internal URL; absent = all')
    .optional(),
};

const key = identifier(512, 16);
const keys = (description: string) =>
  z
    .array(key)
    .min(leastOf(CreateRelaySenderRequestSchema.field.keys))
    .max(MOST_KEYS)
    .refine((given) => new Set(given).size === given.length, 'must not name anything twice')
    .describe(description)
    .optional();

const KEYS = {
  secrets: keys(
    'One or two secrets, the older first; never shown again. In clear: text, or `whsec_…` where that is demanded',
  ),
  publicKeys: keys('Of ed25519-body instead: one or two Ed25519 public keys, SubjectPublicKeyInfo in PEM'),
};

/** The fields of a request that creates a sender. */
export const newSender = {
  ...settings,
  scheme: z
    .enum(['service-signature', 'standard-webhooks', 'hmac-sha256-body', 'ed25519-body'])
    .describe('How the sender signs (docs/relay.md, "Schemes"); it stays'),
  ...KEYS,
};

/** The fields of a request that replaces its settings. */
export const changedSender = { ...settings, ...KEYS };

interface Sent extends z.output<z.ZodObject<typeof changedSender>> {
  readonly scheme?: string;
  readonly merchantId?: string | undefined;
}

/** The parts of core's request. Throws INVALID_REQUEST for both sorts of keys, and for none where one is needed. */
export function senderRequest({ secrets, publicKeys, scheme, merchantId: _, ...given }: Sent, needsKeys: boolean) {
  if (secrets && publicKeys) throw invalid('publicKeys', 'must not be given beside secrets');
  const isPublic = scheme === undefined ? publicKeys !== undefined : scheme === 'ed25519-body';
  const keys = isPublic ? publicKeys : secrets;
  const field = isPublic ? 'publicKeys' : 'secrets';
  if (keys === undefined && (secrets ?? publicKeys)) throw invalid(field, `is needed by ${scheme}`);
  if (keys === undefined && needsKeys) throw invalid(field, 'is required');
  return { settings: defined(given), keys: keys ?? [] };
}

function invalid(field: string, message: string): Problem {
  return new Problem('INVALID_REQUEST', { detail: 'The body is not valid.', errors: [{ field, message }] });
}

/** Names fields as these routes do: core has the settings in a message of their own, and one list of keys. */
export async function inSenderWords<T>(call: Promise<T>, isPublic: boolean): Promise<T> {
  try {
    return await call;
  } catch (error) {
    const problem = isServiceError(error) ? problemOfRpc(error) : undefined;
    if (problem?.details.errors === undefined) throw error;
    const errors = problem.details.errors.map(({ field, message }) => ({
      field: field === 'keys' ? (isPublic ? 'publicKeys' : 'secrets') : field.replace(/^settings\./, ''),
      message,
    }));
    throw new Problem(problem.code, { ...problem.details, detail: 'The body is not valid.', errors });
  }
}
