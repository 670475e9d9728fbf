import { type CreateRefundResponse, RefundSchema } from '../../proto/gen/holdfast/v1/refund_pb.js';
import { answer } from './answer.ts';
import { answered } from './core-messages.ts';
import { type Outcome, outcomeOf } from './write-operation.ts';

export const Refund = answer('Refund', RefundSchema, { without: ['merchantId'] });

/** What a request to refund answers. */
export function refundOutcome({ refund, replayed }: CreateRefundResponse): Outcome {
  return outcomeOf(answered(refund), replayed, Refund.json);
}
