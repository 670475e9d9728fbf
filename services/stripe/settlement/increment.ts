import type Stripe from 'stripe';
import { fromStripe, toStripe } from '../amount.ts';
import { requestOptions } from '../desk.ts';
import type { Ending, Entry } from '../ledger/entry.ts';
import { endedThere } from './capture.ts';
import { approved } from './ending.ts';
import { captureBefore, getIntent } from './intent-ending.ts';
import type { Operation } from './operation.ts';

/** Stripe is told the new total. All of it is added, or nothing. */
export const INCREMENT: Operation<Stripe.PaymentIntent> = {
  answered: 'increment answered',
  send(desk, entry, authorization) {
    const amount = toStripe(entry.baseline + entry.amount, entry.currency) as number;
    const params = { amount, expand: ['latest_charge'] };
    const options = requestOptions(authorization.account, entry.requestId);
    return desk.stripe.paymentIntents.incrementAuthorization(authorization.intentId as string, params, options);
  },
  read: (intent, _entry, authorization, now) => ({ ending: incrementedBy(intent, authorization, now) }),
  async look(desk, entry, authorization) {
    const intent = await getIntent(desk, authorization);
    const total = fromStripe(intent.amount, intent.currency);
    if (total === entry.baseline + entry.amount) return { ending: incrementedBy(intent, authorization, desk.now()) };
    if (total !== entry.baseline) return 'unclear';
    return endedThere(intent, desk) ?? 'absent';
  },
};

function incrementedBy(intent: Stripe.PaymentIntent, authorization: Entry, now: Date): Ending {
  const { severalCaptures, increments } = authorization;
  return approved(now, { reference: intent.id, expiresAt: captureBefore(intent), severalCaptures, increments });
}
