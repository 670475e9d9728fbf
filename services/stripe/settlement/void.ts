import type Stripe from 'stripe';
import { fromStripe } from '../amount.ts';
import { requestOptions } from '../desk.ts';
import type { Ending, Entry } from '../ledger/entry.ts';
import { remainingOf } from './capture.ts';
import { approved, notPerformed } from './ending.ts';
import { getIntent, isExpired } from './intent-ending.ts';
import type { Operation } from './operation.ts';

/** What Stripe stores as the reason of our cancellations. */
const REASON = 'abandoned';

/**
 * An authorization that is not captured is cancelled. Of one that is captured in part the rest is released by a final
 * capture of nothing (docs.stripe.com/payments/multicapture).
 */
export const VOID: Operation<Stripe.PaymentIntent> = {
  answered: 'void answered',
  send(desk, entry, { intentId, captured, account }) {
    const options = requestOptions(account, entry.requestId);
    const { paymentIntents } = desk.stripe;
    if (captured === 0n) return paymentIntents.cancel(intentId as string, { cancellation_reason: REASON }, options);
    return paymentIntents.capture(intentId as string, { amount_to_capture: 0, final_capture: true }, options);
  },
  read: (intent, _entry, authorization, now) => ({ ending: voidedBy(intent, authorization, now) }),
  async look(desk, entry, authorization) {
    const intent = await getIntent(desk, authorization);
    if (fromStripe(intent.amount_received, intent.currency) !== entry.baseline) return 'unclear';
    if (intent.status === 'requires_capture') return 'absent';
    return { ending: lookedAt(intent, authorization, desk.now()) };
  },
};

/** One void at a time is under way, so a closed PaymentIntent was closed by it, unless Stripe says another reason. */
function lookedAt(intent: Stripe.PaymentIntent, authorization: Entry, now: Date): Ending {
  if (isExpired(intent)) return notPerformed(now, 'authorization_expired', 'The authorization has ended.');
  const isOurs = intent.status === 'succeeded' || intent.cancellation_reason === REASON;
  return isOurs
    ? voidedBy(intent, authorization, now)
    : notPerformed(now, 'authorization_voided', 'The authorization was cancelled already.');
}

function voidedBy(intent: Stripe.PaymentIntent, authorization: Entry, now: Date): Ending {
  return approved(now, { reference: intent.id, released: remainingOf(authorization) });
}
