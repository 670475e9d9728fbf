/** The JSON forms of holds, captures, increments, refunds and OCTs. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Context } from 'koa';
import { z } from 'zod';
import type { GrpcCall } from '../../platform/grpc-client.ts';
import { OctSchema } from '../../proto/gen/holdfast/v1/oct_pb.js';
import { OperationState, PaymentMethodSchema } from '../../proto/gen/holdfast/v1/payment_pb.js';
import * as contract from '../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { RefundSchema } from '../../proto/gen/holdfast/v1/refund_pb.js';
import type { Core } from '../core/client.ts';
import { restName } from '../http/problem.ts';
import { answer, type Json } from './answer.ts';
import { AMOUNT, answered, requestId, some, TIME } from './answer-fields.ts';
import { numberOf, words } from './contract-field.ts';
import { CSV_QUERY } from './csv.ts';
import { filters, page, terminalId, timeBefore, timeFrom } from './request-fields.ts';
import { answerOperation } from './write-operation.ts';

const PaymentMethodData = answer('PaymentMethodData', PaymentMethodSchema);
export const Oct = answer('Oct', OctSchema, { parts: { paymentMethod: PaymentMethodData } });

export const Refund = answer('Refund', RefundSchema, { without: ['merchantId'] });

export const Capture = answer('Capture', contract.CaptureSchema, {
  own: {
    // A remaining amount of 0 differs from no result.
    amountRemaining: { read: (capture) => amountWhenOk(capture, capture.amountRemaining) },
    amountReleased: { read: (capture) => amountWhenOk(capture, capture.amountReleased) },
  },
});

function amountWhenOk({ state }: contract.Capture, amount: bigint): number | undefined {
  return state === OperationState.OK ? AMOUNT.json(amount) : undefined;
}

const TokenData = z
  .object({ tokenId: z.string() })
  .meta({ id: 'TokenData', description: 'The token that the checkout generated' });

const Warning = answer(undefined, contract.FieldWarningSchema, {
  without: ['description'],
  own: {
    field: { read: ({ field }) => restName(field) },
    message: { schema: z.string().describe('Why it may not work'), read: ({ description }) => description },
  },
});

/** The card networks' reasons, in lower case as the networks' own documents write them. */
export const MERCHANT_REASONS = contract.MerchantReasonSchema.values
  .filter(({ number }) => number !== 0)
  .map(({ localName }) => localName.toLowerCase());

const MerchantInitiated = answer(undefined, contract.MerchantInitiatedSchema, {
  own: {
    reason: {
      schema: z.enum(MERCHANT_REASONS),
      read: ({ reason }) => contract.MerchantReason[reason].toLowerCase(),
    },
  },
});

/** Where the customer goes before the hold is placed. */
export const NextAction = answer(undefined, contract.NextActionSchema, {
  own: {
    type: { schema: z.literal('redirect'), read: () => 'redirect' },
    url: { schema: z.url().describe('Forward the customer there; carries a capability, do not log it') },
  },
});

const Authorization = answer(undefined, contract.AuthorizationSchema);

/** The authorizations of a hold that renews itself, or did; absent of others. */
export const AUTHORIZATIONS = {
  schema: z
    .array(Authorization.schema)
    .describe('Of a hold that renews itself, or did: its authorizations, oldest first')
    .optional(),
  read: ({ authorizations }: contract.Preauthorization) =>
    authorizations.length === 0 ? undefined : authorizations.map(Authorization.json),
};

/** The JSON form of a hold for merchants. */
export const HOLD = {
  parts: {
    paymentMethod: PaymentMethodData,
    captures: Capture,
    authorizations: Authorization,
    warnings: Warning,
    merchantInitiated: MerchantInitiated,
    nextAction: NextAction,
  },
  own: {
    phase: {
      // A merchant does not see that operators review a hold: its outcome is unknown.
      schema: words(contract.HoldPhaseSchema, ['NEEDS_REVIEW']),
      read: ({ phase }: contract.Preauthorization) =>
        phase === contract.HoldPhase.NEEDS_REVIEW ? 'UNKNOWN' : contract.HoldPhase[phase],
    },
    tokenData: {
      schema: TokenData.optional(),
      read: ({ generatedTokenId: tokenId }: contract.Preauthorization) => (tokenId === '' ? undefined : { tokenId }),
    },
  },
} as const;

/** What only the answer about one hold has. */
export const OF_ONE_HOLD = ['captures', 'authorizations'] as const;

/** A hold in a list: without its preauthorizationId, which only answers about that one hold carry. */
export const ListedHold = answer('ListedHold', contract.PreauthorizationSchema, {
  about: 'A hold without its handle',
  ...HOLD,
  without: ['preauthorizationId', 'generatedTokenId', 'frozen', ...OF_ONE_HOLD],
});

export const HoldFilters = z.strictObject({
  status: numberOf(contract.HoldStatusSchema).optional(),
  ...filters,
  terminalId: terminalId.optional(),
  createdFrom: timeFrom.optional(),
  createdTo: timeBefore.optional(),
  expiringBefore: timeBefore.describe('Only open holds that end before this time').optional(),
  ...page,
  ...CSV_QUERY,
});

/** Answers a change of a hold; `json` makes the body of the hold right after it and of the change's requestId. */
export function answerChange(
  ctx: Context,
  { preauthorization, requestId, state, replayed }: Changed,
  json: (hold: contract.Preauthorization, requestId: string) => Json,
): Json | undefined {
  const hold = answered(preauthorization);
  const change = { requestId, holdRequestId: hold.requestId, state };
  return answerOperation(ctx, change, replayed, () => json(hold, requestId));
}

type Changed = Pick<contract.ReleasePreauthorizationResponse, 'preauthorization' | 'requestId' | 'state' | 'replayed'>;

/** The merchant's own words about a change, in its answer. */
const WORDS = {
  merchantReference: z.string().describe("The merchant's own reference of it").optional(),
  metadata: z.record(z.string(), z.string()).describe("The merchant's own data about it").optional(),
  reason: z.string().describe('Why the merchant did it').optional(),
};

function wordsOf({ merchantReference, metadata, reason }: Said) {
  return {
    merchantReference: some(merchantReference),
    metadata: Object.keys(metadata).length === 0 ? undefined : metadata,
    reason: some(reason),
  };
}

type Said = Pick<contract.ReleasePreauthorizationResponse, 'merchantReference' | 'metadata' | 'reason'>;

/** A release, beside the hold, which has amounts, a reference and metadata of its own. */
export const RELEASE = {
  release: z
    .object({
      amountReleased: AMOUNT.schema
        .describe('What it gave back, minor units, when `amountToRelease` was sent')
        .optional(),
      ...WORDS,
    })
    .describe('The amount, and what the merchant said of the release; absent when neither was sent')
    .optional(),
};

export function releaseIn(response: Said & { readonly amountReleased?: bigint }): Json {
  const { amountReleased = 0n } = response;
  const release = {
    amountReleased: amountReleased === 0n ? undefined : AMOUNT.json(amountReleased),
    ...wordsOf(response),
  };
  const said = Object.fromEntries(Object.entries(release).filter(([, value]) => value !== undefined));
  return Object.keys(said).length === 0 ? {} : { release: said };
}

/** Gives a hold back, or `amountToRelease` of it: each is a method of its own in core. */
export function release(
  { preauthorizations }: Core,
  { amountToRelease, ...request }: ReleaseRequest & { readonly amountToRelease?: bigint | undefined },
  call?: GrpcCall,
): Promise<contract.ReleasePreauthorizationResponse | contract.PartiallyReleasePreauthorizationResponse> {
  return amountToRelease === undefined
    ? preauthorizations.releasePreauthorization(request, call)
    : preauthorizations.partiallyReleasePreauthorization({ ...request, amountToRelease }, call);
}

type ReleaseRequest = Omit<
  MessageInitShape<typeof contract.PartiallyReleasePreauthorizationRequestSchema>,
  'amountToRelease' | '$typeName' | '$unknown'
>;

export const Increment = z
  .object({
    requestId,
    holdRequestId: requestId,
    status: z.literal('OK'),
    amountAdded: AMOUNT.schema.describe('What was added, minor units'),
    amount: AMOUNT.schema.describe('Amount of the hold right after it, minor units'),
    currency: ListedHold.schema.shape.currency,
    amountRemaining: AMOUNT.schema.describe('Still capturable right after it, minor units'),
    expiresAt: TIME.schema.describe('When the hold ends by itself'),
    ...WORDS,
  })
  .meta({ id: 'Increment' });

export function answerIncrement(ctx: Context, response: Changed & Said, amountAdded: bigint): Json | undefined {
  return answerChange(ctx, response, (hold, requestId) => ({
    requestId,
    holdRequestId: hold.requestId,
    status: 'OK',
    amountAdded: AMOUNT.json(amountAdded),
    amount: AMOUNT.json(hold.amount),
    currency: hold.currency,
    amountRemaining: AMOUNT.json(hold.amountRemaining),
    expiresAt: hold.expiresAt && TIME.json(hold.expiresAt),
    ...wordsOf(response),
  }));
}
