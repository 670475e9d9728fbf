import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { z } from 'zod';
import { isReturnUrl } from '../../../platform/return-url.ts';
import { OperationState } from '../../../proto/gen/holdfast/v1/payment_pb.js';
import {
  MerchantReason,
  PreauthorizationSchema,
  ThreeDSecure,
} from '../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { KEYED_WRITE, PROCESSOR, READ, WRITE } from '../../http/problem-codes.ts';
import { answer, pageOf } from '../../resource/answer.ts';
import { answered, TIME } from '../../resource/answer-fields.ts';
import { answerPageOrCsv, CSV } from '../../resource/csv.ts';
import {
  AUTHORIZATIONS,
  HOLD,
  HoldFilters,
  ListedHold,
  MERCHANT_REASONS,
  NextAction,
} from '../../resource/payments.ts';
import * as fields from '../../resource/request-fields.ts';
import { answerOperation } from '../../resource/write-operation.ts';
import { refuseWithout } from '../authenticate.ts';
import { restRoute, restWrite } from '../route.ts';
import { Hold } from './hold.ts';

/** The terms of a hold that can also be changed later. */
const terms = {
  captureAt: fields.time.describe(
    'When what remains is captured by itself, once: in the future, before `releaseAt` and the end of the period',
  ),
  releaseAt: fields.time.describe("An end earlier than the period's: in the future, before the end of the period"),
  keepUntil: fields.time.describe(
    'With `tokenId`: until when the hold renews itself before its guarantee ends; in the future, at most 90 days away',
  ),
  metadata: fields.metadata,
};

const returnUrl = fields
  .text(2048)
  .refine(isReturnUrl, 'must be an https URL without user name and password; http only for loopback')
  .meta({
    description:
      'Where the checkout page sends the customer afterwards. With `tokenId` and `customerPresent: true`: where the ' +
      'page of its issuer does; without, an issuer that asks for authentication declines',
    examples: ['https://shop.example/done'],
  });

const OpenCheckout = answer('OpenCheckout', PreauthorizationSchema, {
  about: 'A hold whose customer has not entered a card yet',
  only: ['requestId', 'checkoutUrl', 'checkoutExpiresAt'],
  own: {
    status: { schema: z.literal('IN_PROGRESS'), read: () => 'IN_PROGRESS' },
    checkoutUrl: { schema: z.url().describe('Forward the customer there; carries a capability, do not log it') },
    checkoutExpiresAt: { schema: TIME.schema.describe('Until when it accepts a card') },
  },
});

const AwaitedCustomer = answer('AwaitedCustomer', PreauthorizationSchema, {
  about: 'A hold whose customer is to be authenticated by its issuer first',
  only: ['requestId', 'nextAction'],
  parts: HOLD.parts,
  own: {
    status: { schema: z.literal('IN_PROGRESS'), read: () => 'IN_PROGRESS' },
    phase: { schema: z.literal('AWAITING_CUSTOMER'), read: () => 'AWAITING_CUSTOMER' },
    nextAction: { schema: NextAction.schema },
  },
});

const HoldPage = pageOf('HoldPage', 'Newest first', ListedHold, 'preauthorizations');

const HoldWithCaptures = answer('HoldWithCaptures', PreauthorizationSchema, {
  ...HOLD,
  own: { ...HOLD.own, authorizations: AUTHORIZATIONS },
  without: ['generatedTokenId', 'frozen'],
});

const merchantInitiated = z
  .strictObject({
    reason: z.enum(MERCHANT_REASONS).describe('Why, in the words of the card networks'),
    networkTransactionId: fields
      .text(64)
      .describe('Of a hold in which the customer took part; absent = of the newest one of this token and user')
      .optional(),
  })
  .transform(({ reason, networkTransactionId = '' }) => ({
    reason: MerchantReason[reason.toUpperCase() as keyof typeof MerchantReason],
    networkTransactionId,
  }))
  .describe('With `tokenId` and without the customer: why the merchant initiates the hold');

const threeDSecure = z
  .enum(['automatic', 'challenge'])
  .transform((word) => (word === 'challenge' ? ThreeDSecure.CHALLENGE : ThreeDSecure.AUTOMATIC))
  .describe(
    'With `tokenId` and `returnUrl`: whether the issuer authenticates the customer when it asks for it (`automatic`, ' +
      'as without this field), or in any case',
  );

export const HOLD_ROUTES = {
  createPreauthorization: restWrite('Holds', 'POST /preauthorization', {
    scope: 'hold',
    summary: 'Place a hold',
    description:
      'With `tokenId` the amount is held at once. Without, the answer carries `checkoutUrl`, where the customer ' +
      'enters a card; when the issuer of the card asks for authentication and `returnUrl` is given, `nextAction`, ' +
      'where the customer confirms. A notification and GET report the outcome then. Refusals of the processor ' +
      '(CARD_DECLINED, TOKEN_INVALID, PROCESSOR_ERROR) are recorded and carry their `requestId`.',
    body: z
      .strictObject({
        merchantId: fields.ownMerchantId,
        tokenId: fields.tokenId.optional(),
        amount: fields.amount,
        currency: fields.currency,
        terminalId: fields.terminalId,
        userId: fields.userId,
        merchantReference: fields.merchantReference.optional(),
        returnUrl: returnUrl.optional(),
        saveCard: z.boolean().describe('Ask the checkout to generate a token for later use').optional(),
        description: fields.description.optional(),
        customerPresent: z
          .boolean()
          .describe(
            'Whether the customer takes part; absent = true without `tokenId`, else false: the merchant initiates it',
          )
          .optional(),
        threeDSecure: threeDSecure.optional(),
        merchantInitiated: merchantInitiated.optional(),
        expectedCaptureAt: fields.time
          .describe('When you expect to capture: a processor may ask for a longer authorization')
          .optional(),
        captureAt: terms.captureAt.optional(),
        releaseAt: terms.releaseAt.optional(),
        keepUntil: terms.keepUntil.optional(),
        metadata: terms.metadata.optional(),
      })
      .meta({
        id: 'CreatePreauthorization',
        description: 'Asks for a hold; without tokenId the customer enters a card at checkoutUrl',
      }),
    answers: {
      201: {
        description: 'The hold; without `tokenId`, where the customer enters a card; or where it is authenticated',
        schema: z.union([Hold.schema, OpenCheckout.schema, AwaitedCustomer.schema]),
      },
    },
    codes: [...KEYED_WRITE, 'TOKEN_INVALID', 'TIME_OUT_OF_RANGE', 'SIGNATURE_REQUIRED', 'NOT_SUPPORTED', ...PROCESSOR],
    handler: async ({ ctx, core, merchantId, body, name }) => {
      if (body.captureAt !== undefined) refuseWithout(ctx, 'capture');
      const request = { ...body, merchantId, ...name };
      const { preauthorization, state, replayed } = await core.preauthorizations.createPreauthorization(request);
      const hold = answered(preauthorization);
      // A page waits for its customer: nothing about it is unknown.
      const isOpen = state === OperationState.PENDING;
      const placing = { requestId: hold.requestId, state: isOpen ? OperationState.OK : state };
      const open = hold.nextAction ? AwaitedCustomer : OpenCheckout;
      return answerOperation(ctx, placing, replayed, () => (isOpen ? open : Hold).json(hold));
    },
  }),
  listPreauthorizations: restRoute('Holds', 'GET /preauthorization', {
    scope: 'read',
    summary: 'List holds, newest first',
    description: 'Filters are joined by AND. Items do not carry `preauthorizationId`.',
    query: HoldFilters,
    answers: { 200: { description: 'A page', schema: HoldPage.schema, orText: CSV } },
    handler: ({ query, ...call }) =>
      answerPageOrCsv(call, ListedHold.schema, async (page) => {
        const request = { ...query, ...page, merchantId: call.merchantId };
        return HoldPage.json(await call.core.preauthorizations.listPreauthorizations(request));
      }),
  }),
  getPreauthorization: restRoute('Holds', 'GET /preauthorization/{requestId}', {
    scope: 'read',
    summary: 'Look up a hold with its captures',
    description:
      'By its `requestId`. The answer carries `preauthorizationId` once the hold is placed, and the checkout page ' +
      'while that is open. Of captures the newest 50 are shown; `GET /operations` with `holdRequestId` and ' +
      '`operation=CAPTURE` lists the results of all.',
    answers: { 200: { description: 'The hold', schema: HoldWithCaptures.schema } },
    codes: [...READ, 'PREAUTHORIZATION_NOT_FOUND', 'RECONCILING'],
    handler: async ({ core, merchantId, params }) => {
      const { preauthorization } = await core.preauthorizations.getPreauthorization({ ...params, merchantId });
      return HoldWithCaptures.json(preauthorization);
    },
  }),
  updatePreauthorization: restRoute('Holds', 'PATCH /preauthorization/{requestId}', {
    scope: 'hold',
    summary: 'Change what a hold is for, or when it is captured or ends by itself',
    description:
      'Changes the fields that are named; null takes one back. `captureAt`, `releaseAt` and `keepUntil` can be changed ' +
      'while the hold is open, until they fall due (TIME_OUT_OF_RANGE, HOLD_EXPIRED). It makes no operation, and can be ' +
      'repeated.',
    body: z
      .strictObject({
        merchantId: fields.ownMerchantId,
        captureAt: terms.captureAt.nullable().optional(),
        releaseAt: terms.releaseAt.nullable().optional(),
        keepUntil: terms.keepUntil.nullable().optional(),
        description: fields.description.nullable().optional(),
        merchantReference: fields.merchantReference.nullable().optional(),
        metadata: terms.metadata.nullable().optional(),
      })
      .refine(({ merchantId, ...change }) => Object.keys(change).length > 0, 'must change at least one field')
      .meta({ id: 'UpdatePreauthorization', description: 'Changes what is named; null takes it back' }),
    answers: { 200: { description: 'The hold as it is now', schema: Hold.schema } },
    codes: [
      ...WRITE,
      'PREAUTHORIZATION_NOT_FOUND',
      'HOLD_NOT_PLACED',
      'HOLD_EXPIRED',
      'HOLD_RELEASED',
      'HOLD_CAPTURED',
      'TIME_OUT_OF_RANGE',
      'SIGNATURE_REQUIRED',
      'NOT_SUPPORTED',
    ],
    handler: async ({ ctx, core, inFlight, merchantId, params: { requestId }, body: { merchantId: _, ...change } }) => {
      if (change.captureAt != null) refuseWithout(ctx, 'capture');
      ctx.state.requestId = requestId;
      ctx.state.changed = changedOf(change);
      using _place = inFlight.enterHold(merchantId, requestId);
      const paths = Object.keys(change).map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
      const given = Object.entries(change).filter(([, value]) => value !== null);
      const request = { ...Object.fromEntries(given), merchantId, requestId, updateMask: { paths } };
      return Hold.json((await core.preauthorizations.updatePreauthorization(request)).preauthorization);
    },
  }),
} as const;

/** The trace of a change in the log, which survives a restore of the database: times, and names of fields. */
function changedOf(change: Readonly<Record<string, unknown>>): string {
  const named = ([name, value]: [string, unknown]) => {
    if (name !== 'captureAt' && name !== 'releaseAt' && name !== 'keepUntil') return name;
    return `${name}=${value === null ? 'none' : timestampDate(value as Timestamp).toISOString()}`;
  };
  return Object.entries(change).map(named).join(' ');
}
