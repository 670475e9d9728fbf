import Stripe from 'stripe';
import { reversalsOf } from '../../../platform/adapter/postgres/books.ts';
import { type Context, requestOptions } from '../adapter-context.ts';
import type { Entry } from '../ledger/entry.ts';
import { getIntent } from '../settlement/intent-ending.ts';
import { authorizationOf } from '../settlement/mark.ts';

/**
 * Reads what Stripe says of an authorization: the payment, its refunds without what captures left, and its disputes.
 */
export async function look(context: Context, authorization: Entry) {
  const options = requestOptions(authorization.account);
  const about: Stripe.RefundListParams & Stripe.DisputeListParams = {
    payment_intent: authorization.intentId as string,
    limit: 100,
  };
  const intent = await getIntent(context, authorization);
  // Only what was captured can have been refunded or disputed.
  if (intent.amount_received === 0) return { intent, refunds: [], disputes: [] };
  const listed = await context.stripe.refunds.list(about, options).autoPagingToArray({ limit: 1_000 });
  const disputes = await context.stripe.disputes.list(about, options).autoPagingToArray({ limit: 1_000 });
  const known = new Set(
    (await reversalsOf(context.database.query, authorization.requestId)).map((one) => one.reversalId),
  );
  const refunds: Stripe.Refund[] = [];
  for (const refund of listed) {
    const isJudged = ownRefundOf(refund) !== undefined || known.has(refund.id);
    if (isJudged || !(await isOfCapture(context, refund, options))) refunds.push(refund);
  }
  return { intent, refunds, disputes };
}

/**
 * Whether a refund is what a partial capture left: a capture by an older version of Stripe's API, made elsewhere, gives
 * the rest back as a refund (docs.stripe.com/reports/reporting-categories). The money was never charged.
 */
async function isOfCapture({ stripe, log }: Context, refund: Stripe.Refund, options: Stripe.RequestOptions) {
  const { id, balance_transaction: transaction } = refund;
  if (!transaction) return false;
  if (typeof transaction !== 'string') return transaction.reporting_category === CAPTURE_REVERSAL;
  try {
    const { reporting_category } = await stripe.balanceTransactions.retrieve(transaction, {}, options);
    return reporting_category === CAPTURE_REVERSAL;
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripePermissionError)) throw error;
    // A restricted key of before this was asked: what is refunded elsewhere is a reversal nearly always.
    log.warn('balance transaction unread', { eventId: id, reason: 'permission' });
    return false;
  }
}

const CAPTURE_REVERSAL = 'partial_capture_reversal';

/**
 * The identifier of a refund of ours; undefined when it is somebody else's, also one that was given a copy of its
 * payment's metadata.
 */
export function ownRefundOf({ metadata }: Stripe.Refund): string | undefined {
  const isOurs = metadata?.holdfast_capture_id !== undefined;
  return isOurs ? authorizationOf(metadata)?.requestId : undefined;
}
