import { z } from 'zod';
import { REFUND } from '../../http/problem-codes.ts';
import { requestId } from '../../resource/answer-fields.ts';
import { defined } from '../../resource/core-messages.ts';
import { REPLAYED } from '../../resource/idempotency-key.ts';
import { Refund, refundOutcome } from '../../resource/refund.ts';
import { amount } from '../../resource/request-fields.ts';
import { CREATES_OPERATION, inProgress, writeOperation } from '../../resource/write-operation.ts';
import { operatorRoute } from '../route.ts';

export const refundCapture = operatorRoute({
  ...CREATES_OPERATION,
  path: '/operator/captures/{requestId}/refund',
  tag: 'Operators: holds',
  summary: 'Give a capture, or a part of it, back to the card',
  description:
    "For a merchant, by the capture's `requestId`. A capture can be refunded several times, until nothing of it is " +
    'left, also when its hold is closed.',
  parameters: { requestId },
  body: z
    .strictObject({
      amount: amount.optional().meta({ description: 'In minor units; without it, all that is left of the capture' }),
    })
    .meta({ id: 'RefundCapture', description: 'Gives a capture, or a part of it, back to the card' }),
  answers: {
    201: { description: 'Refunded', schema: Refund.schema, headers: REPLAYED },
    202: inProgress('/operator/operations/{requestId}'),
  },
  codes: REFUND,
  handler: async ({ ctx, core, asOperator, params: { requestId: captureRequestId }, body }) => {
    const request = { ...body, captureRequestId };
    await writeOperation(ctx, async (name) =>
      refundOutcome(await core.refunds.createRefund(defined({ ...request, ...name }), asOperator)),
    );
  },
});
