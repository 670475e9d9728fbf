import type Stripe from 'stripe';
import { endedElsewhere, totalOf } from '../../../platform/adapter/authorization.ts';
import { approved, notPerformed } from '../../../platform/adapter/ending.ts';
import { requestOptions } from '../adapter-context.ts';
import { toStripe } from '../amount.ts';
import type { Ending, Entry } from '../ledger/entry.ts';
import { captureBefore } from './intent-ending.ts';
import { markOf } from './mark.ts';
import { amountRefusal, onIntent, tooMany, unusable } from './operation.ts';

/**
 * Adds to an authorization, where the account and the card allow it. Stripe does so before the first capture only. It
 * is sent the new total, and adds all of it or nothing.
 */
export const INCREMENT = onIntent({
  async judge(intent, authorization, context) {
    const refusal = unusable(authorization, intent) ?? endedElsewhere(authorization);
    if (refusal) return refusal;
    if (!authorization.increments || authorization.captured + authorization.voided > 0n) {
      return notPerformed('not_supported', 'This authorization takes no increments, or none any more.');
    }
    const { amount, currency } = intent;
    const total = totalOf(authorization) + amount;
    return (
      amountRefusal({ amount: total, currency }) ?? amountRefusal(intent) ?? (await tooMany(context, authorization))
    );
  },
  baseline: totalOf,
  send(context, entry, authorization) {
    const amount = toStripe(entry.baseline + entry.amount, entry.currency) as number;
    const params: Stripe.PaymentIntentIncrementAuthorizationParams = {
      amount,
      metadata: markOf({ ...entry, isFinal: false }),
      expand: ['latest_charge'],
    };
    const options = requestOptions(authorization.account, entry.requestId);
    return context.stripe.paymentIntents.incrementAuthorization(authorization.intentId as string, params, options);
  },
  ending: (intent, _entry, authorization) => incrementedBy(intent, authorization),
});

/** How an increment of a PaymentIntent ended that was done. */
export function incrementedBy(intent: Stripe.PaymentIntent, authorization: Entry): Ending {
  const { severalCaptures, increments } = authorization;
  return approved({ reference: intent.id, expiresAt: captureBefore(intent), severalCaptures, increments });
}
