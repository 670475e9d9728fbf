import { z } from 'zod';
import { OperationState } from '../../proto/gen/holdfast/v1/payment_pb.js';
import { type CreateRefundResponse, RefundSchema } from '../../proto/gen/holdfast/v1/refund_pb.js';
import * as fields from './answer-fields.ts';
import { answered, messageJson, money, processorFields, some } from './core-messages.ts';
import type { Outcome } from './write-operation.ts';

/** A refund of a capture. */
export const Refund = z
  .object({
    requestId: fields.requestId,
    captureRequestId: fields.requestId.meta({ description: 'The capture that it gives back' }),
    holdRequestId: fields.requestId.meta({ description: 'The hold of that capture' }),
    status: fields.operationStatus,
    amount: fields.money('Amount of this refund'),
    currency: fields.currency,
    amountRefunded: fields.money('Given back by this refund; present when it is OK').optional(),
    reference: fields.reference.optional(),
    bankReference: fields.bankReference.optional(),
    ...fields.processorFields,
    createdAt: fields.time('When it was asked for'),
    finalStateDate: fields.time('When it became final').optional(),
  })
  .meta({ id: 'Refund', description: 'A capture, or a part of it, given back to the card' });

/** A refund of core's as JSON. */
export const refundJson = messageJson(Refund, RefundSchema, {
  ...processorFields,
  amountRefunded: ({ state, amount }) => (state === OperationState.OK ? money(amount) : undefined),
});

/** What a request to refund answers. */
export function refundOutcome(response: CreateRefundResponse): Outcome {
  const { replayed } = response;
  const refund = answered(response.refund);
  if (refund.state === OperationState.OK) return { status: 201, body: refundJson(refund), replayed };
  return { inProgress: { requestId: refund.requestId, holdRequestId: some(refund.holdRequestId) }, replayed };
}
