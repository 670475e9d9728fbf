import type Stripe from 'stripe';
import { refundRefusal } from '../../../platform/adapter/authorization.ts';
import { approved, notPerformed } from '../../../platform/adapter/ending.ts';
import { NO_RESULT } from '../../../platform/adapter/entry.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { requestOptions } from '../adapter-context.ts';
import { toStripe } from '../amount.ts';
import { ENTRIES, type Ending } from '../ledger/entry.ts';
import { REQUEST_ID } from './mark.ts';
import { amountRefusal, type Operation, unusable } from './operation.ts';

/**
 * Gives a capture, or a part of it, back to the card. It is by charge at Stripe; which capture it is about is known
 * here only.
 */
export const REFUND: Operation<Stripe.Refund> = {
  async judge(intent, authorization, context) {
    const refusal = unusable(authorization, intent);
    if (refusal) return refusal;
    const entries = await ENTRIES.ofAuthorization(context.database.query, authorization.requestId);
    return refundRefusal(intent, authorization, entries) ?? amountRefusal(intent);
  },
  send(context, entry, authorization) {
    // What is sent again is answered as it was then: pending.
    if (entry.refundId !== null)
      return context.stripe.refunds.retrieve(entry.refundId, {}, requestOptions(authorization.account));
    const params: Stripe.RefundCreateParams = {
      payment_intent: authorization.intentId as string,
      amount: toStripe(entry.amount, entry.currency) as number,
      metadata: { [REQUEST_ID]: entry.requestId, holdfast_capture_id: entry.captureRequestId ?? '' },
    };
    return context.stripe.refunds.create(params, requestOptions(authorization.account, entry.requestId));
  },
  read: endingOfRefund,
  async look(context, entry, authorization) {
    const params: Stripe.RefundListParams = { payment_intent: authorization.intentId as string, limit: 100 };
    for await (const refund of context.stripe.refunds.list(params, requestOptions(authorization.account))) {
      if (refund.metadata?.[REQUEST_ID] === entry.requestId) return endingOfRefund(refund);
    }
    return 'absent';
  },
};

/** A pending refund usually ends within days; Stripe names no bound. */
export const REFUND_EXPECTED_MS = 14 * 24 * 60 * 60 * 1000;

/** How a refund ended, or that it has not yet. */
export function endingOfRefund(refund: Stripe.Refund): Ending {
  const { id: refundId, status, failure_reason: code, created } = refund;
  if (status === 'succeeded') {
    const bankReference = refund.destination_details?.card?.reference ?? '';
    return approved({ reference: refundId, bankReference, refundId });
  }
  if (status === 'failed') return { ...notPerformed(code ?? 'refund_failed', 'The refund failed.'), refundId };
  if (status === 'canceled') return { ...notPerformed('refund_canceled', 'The refund was cancelled.'), refundId };
  const expectedBy = new Date(created * 1000 + REFUND_EXPECTED_MS);
  return { ...NO_RESULT, answer: Answer.ACCEPTED, reference: refundId, expectedBy, refundId };
}
