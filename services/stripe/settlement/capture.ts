import type Stripe from 'stripe';
import { endedElsewhere, otherTill, remainingOf, TOO_MUCH } from '../../../platform/adapter/authorization.ts';
import { approved, notPerformed } from '../../../platform/adapter/ending.ts';
import { requestOptions } from '../adapter-context.ts';
import { toStripe } from '../amount.ts';
import type { Ending, Entry } from '../ledger/entry.ts';
import { chargeOf } from './intent-ending.ts';
import { markOf } from './mark.ts';
import { amountRefusal, onIntent, tooMany, uncapturedOf, unusable } from './operation.ts';

/** Whether a capture closes its authorization: it was asked to, leaves nothing, or is the only one there can be. */
function isFinal(entry: Entry, authorization: Entry): boolean {
  return entry.finalCapture || !authorization.severalCaptures || entry.amount === remainingOf(authorization);
}

/**
 * Charges a part of an authorization; the last capture, or the only one there can be, gives the rest back.
 * `final_capture` is always said: Stripe takes it for true, and false only where several captures are available.
 */
export const CAPTURE = onIntent({
  async judge(intent, authorization, context) {
    const refusal =
      unusable(authorization, intent) ?? endedElsewhere(authorization) ?? otherTill(authorization, intent);
    if (refusal) return refusal;
    if (!authorization.severalCaptures && authorization.captured > 0n) {
      return notPerformed('not_supported', 'This authorization takes one capture.');
    }
    if (intent.amount > remainingOf(authorization)) return TOO_MUCH;
    return amountRefusal(intent) ?? (await tooMany(context, authorization));
  },
  send(context, entry, authorization) {
    const final = isFinal(entry, authorization);
    const params: Stripe.PaymentIntentCaptureParams = {
      amount_to_capture: toStripe(entry.amount, entry.currency) as number,
      ...(authorization.severalCaptures && { final_capture: final }),
      metadata: markOf({ ...entry, isFinal: final }),
      expand: ['latest_charge'],
    };
    const options = requestOptions(authorization.account, entry.requestId);
    return context.stripe.paymentIntents.capture(authorization.intentId as string, params, options);
  },
  ending: (intent, entry, authorization) => capturedBy(intent, isFinal(entry, authorization)),
});

/** How a capture of a PaymentIntent ended that was done. */
export function capturedBy(intent: Stripe.PaymentIntent, final: boolean): Ending {
  const charge = chargeOf(intent);
  const card = charge?.payment_method_details?.card;
  return approved({
    reference: charge?.id ?? intent.id,
    bankReference: card?.network_transaction_id ?? card?.authorization_code ?? '',
    released: final ? uncapturedOf(intent) : 0n,
  });
}
