import assert from 'node:assert/strict';
import type Stripe from 'stripe';
import { keptNetworkId } from '../../../platform/adapter/card.ts';
import { approved, declined, notPerformed } from '../../../platform/adapter/ending.ts';
import { type Context, requestOptions } from '../adapter-context.ts';
import { cardOf, declinedCardOf } from '../api/card.ts';
import type { Ending, Entry } from '../ledger/entry.ts';

/** Reads a PaymentIntent as it is now. Throws what Stripe's client throws. */
export function getIntent(context: Context, entry: Pick<Entry, 'intentId' | 'account'>): Promise<Stripe.PaymentIntent> {
  assert(entry.intentId !== null, 'there is a PaymentIntent');
  return context.stripe.paymentIntents.retrieve(
    entry.intentId,
    { expand: ['latest_charge'] },
    requestOptions(entry.account),
  );
}

/** How the authorization of a PaymentIntent ended, whose charge must be expanded; undefined when it has not. */
export function endingOf(intent: Stripe.PaymentIntent, entry: Entry): Ending | undefined {
  switch (intent.status) {
    case 'requires_capture':
    case 'succeeded':
      return approvedBy(intent, entry);
    case 'canceled':
      return notPerformed('authorization_canceled', 'The payment was cancelled.');
    case 'requires_payment_method':
    case 'requires_confirmation':
      return intent.last_payment_error ? refusedBy(intent.last_payment_error, chargeOf(intent)) : undefined;
    default:
      return undefined;
  }
}

/** The expanded charge of a PaymentIntent. */
export function chargeOf(intent: Stripe.PaymentIntent): Stripe.Charge | undefined {
  return typeof intent.latest_charge === 'object' && intent.latest_charge !== null ? intent.latest_charge : undefined;
}

/** When an uncaptured authorization ends, as Stripe says. */
export function captureBefore(intent: Stripe.PaymentIntent): Date | null {
  const seconds = chargeOf(intent)?.payment_method_details?.card?.capture_before;
  return seconds === undefined ? null : new Date(seconds * 1000);
}

/** Whether Stripe ended it because its time was over; before 2025 that was called `automatic`. */
export function isExpired(intent: Stripe.PaymentIntent): boolean {
  return intent.cancellation_reason === 'expired' || intent.cancellation_reason === 'automatic';
}

function approvedBy(intent: Stripe.PaymentIntent, entry: Entry): Ending {
  const card = chargeOf(intent)?.payment_method_details?.card;
  const isSaved = entry.saveCard && intent.setup_future_usage !== null;
  const paymentMethod = typeof intent.payment_method === 'object' ? intent.payment_method?.id : intent.payment_method;
  return approved({
    reference: intent.id,
    ...(card && {
      ...cardOf(card),
      ...keptNetworkId(card.network_transaction_id),
      severalCaptures: card.multicapture?.status === 'available',
      increments: card.incremental_authorization?.status === 'available',
    }),
    generatedTokenId: isSaved ? (paymentMethod ?? '') : '',
    expiresAt: captureBefore(intent),
  });
}

function refusedBy(error: Stripe.PaymentIntent.LastPaymentError, charge: Stripe.Charge | undefined): Ending {
  const code = error.decline_code || error.code || error.type;
  const message = error.message ?? '';
  if (error.type !== 'card_error') return notPerformed(code, message);
  const card = charge?.payment_method_details?.card;
  return declined(code, message, card ? cardOf(card, error) : declinedCardOf(error));
}
