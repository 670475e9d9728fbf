import { z } from 'zod';
import { isReturnUrl } from '../../../platform/return-url.ts';
import { OperationState } from '../../../proto/gen/holdfast/v1/payment_pb.js';
import { PreauthorizationSchema } from '../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { KEYED_WRITE, PROCESSOR } from '../../http/problem-codes.ts';
import { answer } from '../../resource/answer.ts';
import { time } from '../../resource/answer-fields.ts';
import { answered } from '../../resource/core-messages.ts';
import * as fields from '../../resource/request-fields.ts';
import { createsOperation, writeOperation } from '../../resource/write-operation.ts';
import { restRoute } from '../route.ts';
import { captureAt, Hold, metadata, releaseAt } from './hold.ts';

const returnUrl = fields
  .text(2048)
  .refine(isReturnUrl, 'must be an https URL; http only for loopback')
  .meta({
    description: 'Where the checkout page sends the customer afterwards',
    examples: ['https://shop.example/done'],
  });

const CreatePreauthorization = z
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
    expectedCaptureAt: fields.time
      .describe('When you expect to capture: a processor may ask for a longer authorization')
      .optional(),
    captureAt: captureAt.optional(),
    releaseAt: releaseAt.optional(),
    metadata: metadata.optional(),
  })
  .meta({
    id: 'CreatePreauthorization',
    description: 'Asks for a hold; without tokenId the customer enters a card at checkoutUrl',
  });

const OpenCheckout = answer('OpenCheckout', PreauthorizationSchema, {
  about: 'A hold whose customer has not entered a card yet',
  only: ['requestId', 'checkoutUrl', 'checkoutExpiresAt'],
  own: {
    status: { schema: z.literal('IN_PROGRESS'), read: () => 'IN_PROGRESS' },
    checkoutUrl: {
      schema: z.url().describe('Forward the customer there; carries a capability, do not log it'),
    },
    checkoutExpiresAt: { schema: time('Until when it accepts a card') },
  },
});

export const createPreauthorization = restRoute({
  ...createsOperation(
    201,
    'The hold; without `tokenId`, where the customer enters a card',
    z.union([Hold.schema, OpenCheckout.schema]),
    '/operations/{requestId}',
  ),
  path: '/preauthorization',
  tag: 'Holds',
  summary: 'Place a hold',
  description:
    'With `tokenId` the amount is held at once. Without, the answer carries `checkoutUrl`, where the customer enters ' +
    'a card; what became of it is told by a notification and by GET. Refusals of the processor (CARD_DECLINED, ' +
    'TOKEN_INVALID, PROCESSOR_ERROR) are recorded and carry their `requestId`.',
  body: CreatePreauthorization,
  codes: [...KEYED_WRITE, 'TOKEN_INVALID', 'TIME_OUT_OF_RANGE', 'SIGNATURE_REQUIRED', ...PROCESSOR],
  handler: ({ ctx, core, merchantId, body }) =>
    writeOperation(ctx, async (name) => {
      const request = { ...body, ...name, merchantId };
      const { preauthorization, state, replayed } = await core.preauthorizations.createPreauthorization(request);
      const hold = answered(preauthorization);
      if (state === OperationState.OK) return { body: Hold.json(hold), replayed };
      if (state === OperationState.PENDING) return { body: OpenCheckout.json(hold), replayed };
      return { inProgress: hold, replayed };
    }),
});
