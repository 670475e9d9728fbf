import type Stripe from 'stripe';
import { fromStripe, toStripe } from '../amount.ts';
import { type Desk, requestOptions } from '../desk.ts';
import type { Ending, Entry } from '../ledger/entry.ts';
import { approved, notPerformed } from './ending.ts';
import { chargeOf, getIntent, isExpired } from './intent-ending.ts';
import type { Operation } from './operation.ts';

/** What of an authorization is neither captured nor given back, minor units. */
export function remainingOf(authorization: Entry): bigint {
  const { amount, incremented, captured, voided } = authorization;
  return amount + incremented - captured - voided;
}

/** Whether a capture closes its authorization: it was asked to, leaves nothing, or is the only one there can be. */
function isFinal(entry: Entry, authorization: Entry): boolean {
  return entry.finalCapture || !authorization.severalCaptures || entry.amount === remainingOf(authorization);
}

/** `final_capture` is always said: Stripe takes it for true, and false only where several captures are available. */
export const CAPTURE: Operation<Stripe.PaymentIntent> = {
  answered: 'capture answered',
  send(desk, entry, authorization) {
    const params = {
      amount_to_capture: toStripe(entry.amount, entry.currency) as number,
      ...(authorization.severalCaptures && { final_capture: isFinal(entry, authorization) }),
      expand: ['latest_charge'],
    };
    const options = requestOptions(authorization.account, entry.requestId);
    return desk.stripe.paymentIntents.capture(authorization.intentId as string, params, options);
  },
  read: (intent, entry, authorization, now) => ({ ending: capturedBy(intent, entry, authorization, now) }),
  async look(desk, entry, authorization) {
    const intent = await getIntent(desk, authorization);
    const received = fromStripe(intent.amount_received, intent.currency);
    if (received === entry.baseline + entry.amount) {
      return { ending: capturedBy(intent, entry, authorization, desk.now()) };
    }
    if (received !== entry.baseline) return 'unclear';
    return endedThere(intent, desk) ?? 'absent';
  },
};

function capturedBy(intent: Stripe.PaymentIntent, entry: Entry, authorization: Entry, now: Date): Ending {
  const charge = chargeOf(intent);
  const card = charge?.payment_method_details?.card;
  return approved(now, {
    reference: charge?.id ?? intent.id,
    bankReference: card?.network_transaction_id ?? card?.authorization_code ?? '',
    released: isFinal(entry, authorization) ? remainingOf(authorization) - entry.amount : 0n,
  });
}

/** Why nothing can be done about an authorization that Stripe ended. */
export function endedThere(intent: Stripe.PaymentIntent, desk: Desk): { ending: Ending } | undefined {
  const now = desk.now();
  if (intent.status === 'requires_capture') return undefined;
  if (isExpired(intent)) return { ending: notPerformed(now, 'authorization_expired', 'The authorization has ended.') };
  if (intent.status === 'canceled') {
    return { ending: notPerformed(now, 'authorization_voided', 'The authorization was cancelled.') };
  }
  return { ending: notPerformed(now, 'authorization_closed', 'The authorization is closed.') };
}
