import { OperationState } from '../../proto/gen/holdfast/v1/payment_pb.js';
import { type CreateRefundResponse, RefundSchema } from '../../proto/gen/holdfast/v1/refund_pb.js';
import { answer } from './answer.ts';
import { answered, some } from './core-messages.ts';
import type { Outcome } from './write-operation.ts';

/** A refund of a capture. */
export const Refund = answer('Refund', RefundSchema, { without: ['merchantId'] });

/** What a request to refund answers. */
export function refundOutcome(response: CreateRefundResponse): Outcome {
  const { replayed } = response;
  const refund = answered(response.refund);
  if (refund.state === OperationState.OK) return { status: 201, body: Refund.json(refund), replayed };
  return { inProgress: { requestId: refund.requestId, holdRequestId: some(refund.holdRequestId) }, replayed };
}
