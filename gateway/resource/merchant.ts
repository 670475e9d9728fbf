import type { DescField, MessageInitShape } from '@bufbuild/protobuf';
import { z } from 'zod';
import { ContractSchema, LimitSchema, SigningSecretSchema } from '../../proto/gen/holdfast/v1/merchant_pb.js';
import { answer } from './answer.ts';
import { defined } from './answer-fields.ts';
import { leastOf, mostOf } from './contract-bounds.ts';
import { currency, endpointUrl, terminalId, textOf, time } from './request-fields.ts';

const SAY_CAPTURES =
  'is required: true allows several captures of a hold; with false the first one closes it and releases what is left';

/** A list of at least one, without repetitions; core would refuse these in words that are not this API's. */
function distinct<Item extends z.ZodType>(item: Item) {
  const isDistinct = (items: readonly unknown[]) => new Set(items).size === items.length;
  return z.array(item).min(1).refine(isDistinct, 'must not name anything twice');
}

const CONTRACT = ContractSchema.field;

const limitedOperation = z.enum(['CAPTURE', 'OCT', 'REFUND']);

const limitAmount = (field: DescField) => z.int().min(leastOf(field)).max(mostOf(field));

const Limit = z
  .strictObject({
    operation: limitedOperation,
    currency,
    perOperation: limitAmount(LimitSchema.field.perOperation).describe('Minor units of one operation').optional(),
    perDay: limitAmount(LimitSchema.field.perDay)
      .describe('Minor units of a day in UTC. What is KO in the end gives its room back')
      .optional(),
  })
  .meta({ id: 'Limit', description: 'What operations of a kind may move in a currency' });

/** A merchant's terms, and the destinations of its notifications. */
export const Contract = z
  .strictObject({
    allowMultipleCaptures: z
      .boolean({ error: ({ input }) => (input === undefined ? SAY_CAPTURES : undefined) })
      .describe(
        'true: several captures of a hold, until one has `finalCapture`. false: the first capture closes the hold, ' +
          'also one of a part, and releases what is left',
      ),
    holdPeriodSeconds: z
      .int()
      .min(leastOf(CONTRACT.holdPeriod))
      .max(mostOf(CONTRACT.holdPeriod))
      .describe("How long a hold lasts; default 604 800 (7 days); the processor's answer wins when shorter")
      .optional(),
    currencies: distinct(currency).max(mostOf(CONTRACT.currencies)).describe('ISO 4217 codes'),
    terminals: distinct(terminalId).max(mostOf(CONTRACT.terminals)),
    notifyHolds: z
      .boolean()
      .describe('Notify about holds, increments, extensions, releases and expiries; default true')
      .optional(),
    notifyExpiringHours: z
      .int()
      .min(leastOf(CONTRACT.notifyExpiringHours))
      .max(mostOf(CONTRACT.notifyExpiringHours))
      .describe('Notify so many hours before the end of a hold of which something remains; absent = not at all')
      .optional(),
    allowCardLikeReferences: z
      .boolean()
      .describe('Take a `merchantReference`, `userId` or `terminalId` that looks like a card number; default false')
      .optional(),
    allowOct: z
      .boolean()
      .describe('Payouts (`POST /oct`) are allowed; absent = no when the merchant is created, as before afterwards')
      .optional(),
    limits: z
      .array(Limit)
      .max(mostOf(CONTRACT.limits))
      .describe('What operations may move at most, for each operation and currency one; absent = no limits')
      .optional(),
    requireSignedOperations: z
      .array(limitedOperation)
      .max(mostOf(CONTRACT.requireSignedOperations))
      .refine((items) => new Set(items).size === items.length, 'must not name anything twice')
      .describe('The operations that must carry a message signature; CAPTURE is the same as `requireSignedCaptures`')
      .optional(),
    requireSignedCaptures: z
      .boolean()
      .describe('Captures must carry a message signature: the same as CAPTURE in `requireSignedOperations`')
      .optional(),
    capturePublicKey: z
      .string()
      .min(1)
      .max(mostOf(CONTRACT.capturePublicKey))
      .describe('Ed25519 public key, SubjectPublicKeyInfo in PEM; needed when operations are signed')
      .optional(),
    webhookUrl: endpointUrl('Where signed notifications go; absent = nowhere').optional(),
    internalUrl: endpointUrl(
      'Where the relay forwards verified notifications; absent = they are parked until it is set',
    ).optional(),
    processor: z
      .string()
      .regex(/^[a-z][a-z0-9_-]{0,31}$/)
      .describe('Card processor of new holds and OCTs, by its name; absent = the default one')
      .optional(),
    processorAccount: textOf(CONTRACT.processorAccount)
      .describe("The merchant's account at the processor; absent = the processor's own default")
      .optional(),
    relayVerification: z
      .enum(['service-signature', 'either', 'standard-webhooks'])
      .describe(
        "What the relay demands of notifications under the merchant's own secrets: `X-Service-Signature` (default), " +
          'the three `webhook-` headers, or either of them',
      )
      .optional(),
  })
  .meta({ id: 'Contract' });

export function contractOf({ holdPeriodSeconds, limits, ...contract }: z.output<typeof Contract>) {
  const holdPeriod = holdPeriodSeconds === undefined ? undefined : { seconds: BigInt(holdPeriodSeconds) };
  const minor = (amount: number | undefined) => (amount === undefined ? undefined : BigInt(amount));
  const inMinor = limits?.map(({ perOperation, perDay, ...limit }) =>
    defined({ ...limit, perOperation: minor(perOperation), perDay: minor(perDay) }),
  );
  return defined({ ...contract, limits: inMinor, holdPeriod }) as MessageInitShape<typeof ContractSchema>;
}

export const { json: contractJson } = answer(undefined, ContractSchema, {
  without: ['holdPeriod'],
  parts: { limits: answer('Limit', LimitSchema) },
  own: {
    holdPeriodSeconds: { read: ({ holdPeriod }) => holdPeriod && Number(holdPeriod.seconds) },
    notifyHolds: { read: ({ notifyHolds = true }) => notifyHolds },
  },
});

export const SigningSecret = answer('SigningSecret', SigningSecretSchema);

/** The value, in the one answer that carries it. */
export const signingSecret = z.string().describe('The secret; shown this once');

/** The body of a request for one. */
export const newSecret = {
  olderExpiresAt: time
    .describe('When the secret that lives now is retired by itself, at most 90 days ahead; absent = when it is ended')
    .optional(),
};

/** Such a request by an operator. */
export const AddSigningSecret = z.strictObject(newSecret).meta({ id: 'AddSigningSecret' });

/** A new one, with its value. */
export const CreatedSigningSecret = SigningSecret.schema.extend({ signingSecret }).meta({ id: 'CreatedSigningSecret' });
