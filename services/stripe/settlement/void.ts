import { endedElsewhere, mismatch, NOT_APPROVED, remainingOf } from '../../../platform/adapter/authorization.ts';
import { approved } from '../../../platform/adapter/ending.ts';
import { OutcomeUnknown } from '../../../platform/adapter/serve.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Context, requestOptions } from '../adapter-context.ts';
import type { Entry } from '../ledger/entry.ts';
import { endAuthorization } from './authorization.ts';
import { closePage, settleCheckout } from './checkout.ts';
import { markOf } from './mark.ts';
import { onIntent, uncapturedOf } from './operation.ts';
import { cancelStepUp, isAwaitingCustomer } from './step-up.ts';

/** What Stripe stores as the reason of our cancellations. */
const REASON = 'abandoned';

/**
 * Gives back what is left of an authorization, or closes its open page. Approved also when nothing was left:
 * afterwards nothing is reserved, which is what was asked. An authorization that is not captured is cancelled. Of one
 * that is captured in part the rest is released by a final capture of nothing (docs.stripe.com/payments/multicapture).
 */
export const VOID = onIntent({
  async judge(intent, authorization, context) {
    const refusal = mismatch(authorization, intent);
    if (refusal) return refusal;
    const ended = authorization.stage === 'ended' ? authorization : await endFirst(context, authorization);
    const nothingLeft = approved({ reference: ended.intentId ?? '' });
    if (CLOSED_PAGE.has(ended.errorCode)) return nothingLeft;
    if (ended.answer !== Answer.APPROVED) return NOT_APPROVED;
    return endedElsewhere(ended) ?? (remainingOf(ended) === 0n ? nothingLeft : undefined);
  },
  send(context, entry, authorization) {
    const { intentId, captured, account } = authorization;
    const options = requestOptions(account, entry.requestId);
    const { paymentIntents } = context.stripe;
    if (captured === 0n) return paymentIntents.cancel(intentId as string, { cancellation_reason: REASON }, options);
    const metadata = markOf({ ...entry, amount: remainingOf(authorization), isFinal: true });
    return paymentIntents.capture(intentId as string, { amount_to_capture: 0, final_capture: true, metadata }, options);
  },
  ending: (intent) => approved({ reference: intent.id, released: uncapturedOf(intent) }),
  // One void at a time is under way, so what was cancelled for our reason was cancelled by it.
  isDone: (intent) => intent.cancellation_reason === REASON,
});

const CLOSED_PAGE = new Set([
  'checkout_cancelled',
  'checkout_expired',
  'authentication_cancelled',
  'authentication_expired',
]);

async function endBy(context: Context, entry: Entry): Promise<Entry | undefined> {
  if (entry.kind === 'checkout')
    return (await closePage(context, entry)) ?? (await settleCheckout(context, entry, { tell: true }));
  const seen = isAwaitingCustomer(entry) ? entry : await endAuthorization(context, entry);
  return seen && isAwaitingCustomer(seen) ? cancelStepUp(context, seen) : seen;
}

/** An open page is closed; an authorization of which nothing is known yet is fenced, when it was not made. */
async function endFirst(context: Context, entry: Entry): Promise<Entry> {
  const ended = await endBy(context, entry);
  if (ended?.stage !== 'ended') throw new OutcomeUnknown('it is not known yet what became of the authorization');
  return ended;
}
