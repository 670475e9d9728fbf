import { z } from 'zod';
import { READ_ONE, REFUND } from '../../http/problem-codes.ts';
import { defined } from '../../resource/core-messages.ts';
import { Refund, refundOutcome } from '../../resource/refund.ts';
import * as fields from '../../resource/request-fields.ts';
import { requestId } from '../../resource/request-fields.ts';
import { createsOperation, writeOperation } from '../../resource/write-operation.ts';
import { restRoute } from '../route.ts';

export const createRefund = restRoute({
  ...createsOperation(201, 'Refunded', Refund.schema, '/operations/{requestId}'),
  path: '/refund',
  tag: 'Refunds',
  summary: 'Give a capture, or a part of it, back to the card',
  description:
    '201 once the processor has done it. A capture can be refunded several times, until nothing of it is left, also ' +
    'when its hold is closed. Refusals of the processor (CARD_DECLINED, PROCESSOR_ERROR) are recorded and carry ' +
    'their `requestId`.',
  body: z
    .strictObject({
      merchantId: fields.ownMerchantId,
      captureRequestId: fields.requestId.describe('The capture'),
      amount: fields.amount.optional().describe('Amount in minor units; without it, all that is left of the capture'),
    })
    .meta({ id: 'CreateRefund', description: 'Gives a capture, or a part of it, back to the card' }),
  codes: REFUND,
  handler: ({ ctx, core, merchantId, body }) => {
    return writeOperation(ctx, async (name) =>
      refundOutcome(await core.refunds.createRefund(defined({ ...body, ...name, merchantId }))),
    );
  },
});

export const getRefund = restRoute({
  path: '/refund/{requestId}',
  tag: 'Refunds',
  summary: 'Look up a refund, final or not',
  description: 'By its `requestId`. OPERATION_NOT_FOUND also for one of another merchant.',
  parameters: { requestId },
  answers: { 200: { description: 'The refund', schema: Refund.schema } },
  codes: READ_ONE,
  handler: async ({ core, merchantId, params }) =>
    Refund.json((await core.refunds.getRefund({ ...params, merchantId })).refund),
});
