import { OperationState } from '../../proto/gen/holdfast/v1/payment_pb.js';
import { type CreateRefundResponse, RefundSchema } from '../../proto/gen/holdfast/v1/refund_pb.js';
import { answer } from './answer.ts';
import { money as moneyField } from './answer-fields.ts';
import { answered, money, some } from './core-messages.ts';
import type { Outcome } from './write-operation.ts';

/** A refund of a capture. */
export const Refund = answer('Refund', RefundSchema, {
  without: ['merchantId'],
  own: {
    amountRefunded: {
      schema: moneyField('Given back by this refund; set when OK').optional(),
      read: ({ state, amount }) => (state === OperationState.OK ? money(amount) : undefined),
    },
  },
});

/** What a request to refund answers. */
export function refundOutcome(response: CreateRefundResponse): Outcome {
  const { replayed } = response;
  const refund = answered(response.refund);
  if (refund.state === OperationState.OK) return { status: 201, body: Refund.json(refund), replayed };
  return { inProgress: { requestId: refund.requestId, holdRequestId: some(refund.holdRequestId) }, replayed };
}
