import type Stripe from 'stripe';
import { type Account, type Card, type Charge, emit, type Intent, newId } from './account.ts';
import { checkAmount } from './amounts.ts';
import { cardError, FakeError, invalid, missing, wrongState } from './fake-error.ts';
import { type Form, formOf, numberOf, textOf } from './form.ts';

const DAY_S = 24 * 60 * 60;

/** The behaviour of the test cards (docs.stripe.com/testing, docs.stripe.com/payments/multicapture). */
interface TestCard {
  readonly last4: string;
  readonly brand?: string;
  readonly funding?: string;
  readonly features?: boolean;
  readonly threeDSecure?: Stripe.Charge.PaymentMethodDetails.Card.ThreeDSecure.Result;
  /** The issuer asks the customer, when there is one. */
  readonly challenge?: true;
  readonly decline?: string | undefined;
  readonly networkCode?: string;
  readonly code?: string;
}
const CARDS: Readonly<Record<string, TestCard>> = {
  pm_card_visa: { last4: '4242', features: true },
  pm_card_mastercard: { last4: '4444', brand: 'mastercard', features: true },
  pm_card_visa_debit: { last4: '5556', funding: 'debit', features: true },
  pm_card_mastercard_prepaid: { last4: '5100', brand: 'mastercard', funding: 'prepaid', features: true },
  pm_card_credit_disableEnterpriseCardFeatures: { last4: '0076' },
  pm_card_createDispute: { last4: '0259', features: true },
  pm_card_pendingRefund: { last4: '7726', features: true },
  // The fake's own, and those whose effects happen later (`by-itself.ts`).
  pm_fake_authenticated: { last4: '3220', features: true, threeDSecure: 'authenticated' },
  pm_fake_attempted: { last4: '3055', features: true, threeDSecure: 'attempt_acknowledged' },
  pm_fake_notSupported: { last4: '3063', features: true, threeDSecure: 'not_supported' },
  pm_fake_disputeWon: { last4: '0001', features: true },
  pm_fake_refundedInPart: { last4: '0003', features: true },
  pm_fake_expiresAtOnce: { last4: '0004', features: true },
  pm_card_chargeDeclined: { last4: '0002', decline: 'generic_decline', networkCode: '05' },
  pm_card_chargeDeclinedInsufficientFunds: {
    last4: '9995',
    decline: 'insufficient_funds',
    networkCode: '51',
  },
  pm_card_authenticationRequired: {
    last4: '3184',
    features: true,
    threeDSecure: 'authenticated',
    challenge: true,
    decline: 'authentication_required',
    code: 'authentication_required',
  },
};

/** Returns the behaviour of a PaymentMethod; a saved one behaves like a good card. */
export function cardOf(account: Account, paymentMethod: string) {
  const card = CARDS[paymentMethod] ?? (account.paymentMethods.has(paymentMethod) ? CARDS.pm_card_visa : undefined);
  if (!card) throw missing('PaymentMethod', paymentMethod, 'payment_method');
  return card;
}

export function findIntent(account: Account, id: string): Intent {
  const intent = account.intents.get(id);
  if (!intent) throw missing('payment_intent', id, 'intent');
  return intent;
}

/**
 * Asks for card features. An account without them is refused, whatever `if_available` says, and no parameter is named.
 */
export function featuresOf(account: Account, form: Form): boolean {
  const card = formOf(formOf(form, 'payment_method_options'), 'card');
  const asked = FEATURES.filter((name) => textOf(card, name) === 'if_available');
  if (asked.length > 0 && !account.hasFeatures) {
    const message = 'This account is not eligible for the requested card features.';
    throw invalid(message, undefined, 'payment_intent_invalid_parameter');
  }
  return asked.length > 0;
}

const FEATURES = ['request_multicapture', 'request_incremental_authorization', 'request_extended_authorization'];

export function newIntent(
  account: Account,
  given: Pick<Intent, 'amount' | 'currency' | 'customer' | 'metadata'> & Partial<Pick<Intent, 'description'>>,
): Intent {
  const intent: Intent = {
    id: newId('pi'),
    object: 'payment_intent',
    amount_capturable: 0,
    amount_received: 0,
    canceled_at: null,
    cancellation_reason: null,
    capture_method: 'manual',
    created: account.now(),
    description: null,
    last_payment_error: null,
    latest_charge: null,
    livemode: false,
    next_action: null,
    payment_method: null,
    payment_method_options: null,
    setup_future_usage: null,
    status: 'requires_payment_method',
    ...given,
  };
  account.intents.set(intent.id, intent);
  account.counts.set(intent.id, { captures: 0, increments: 0 });
  return intent;
}

export function createIntent(account: Account, form: Form): Intent {
  const currency = textOf(form, 'currency') ?? '';
  const amount = numberOf(form, 'amount');
  checkAmount(amount, currency);
  if (textOf(form, 'capture_method') !== 'manual')
    throw invalid('the fake takes manual capture only', 'capture_method');
  const metadata = formOf(form, 'metadata') as Record<string, string>;
  checkMetadata(metadata);
  const intent = newIntent(account, {
    amount,
    currency,
    customer: textOf(form, 'customer') ?? null,
    description: textOf(form, 'description') ?? null,
    metadata,
  });
  emit(account, 'payment_intent.created', intent);
  return intent;
}

export function confirmIntent(account: Account, id: string, form: Form): Intent {
  const intent = findIntent(account, id);
  if (intent.status !== 'requires_payment_method' && intent.status !== 'requires_confirmation') {
    throw wrongState(`You cannot confirm this PaymentIntent because it has a status of ${intent.status}.`);
  }
  if (featuresOf(account, form)) {
    intent.payment_method_options = {
      card: { request_multicapture: 'if_available' },
    } as Intent['payment_method_options'];
  }
  const paymentMethod = textOf(form, 'payment_method') ?? '';
  const card = cardOf(account, paymentMethod);
  const owner = account.paymentMethods.get(paymentMethod)?.customer ?? null;
  if (owner !== null && owner !== intent.customer) {
    throw invalid('The PaymentMethod belongs to a Customer. Please include the Customer.', 'payment_method');
  }
  const asked = textOf(formOf(formOf(form, 'payment_method_options'), 'card'), 'request_three_d_secure');
  const isChallenged = card.challenge || asked === 'challenge';
  if (isChallenged && textOf(form, 'off_session') === 'true') {
    return authorizeCard(account, intent, paymentMethod, CARDS.pm_card_authenticationRequired);
  }
  if (!isChallenged) return authorizeCard(account, intent, paymentMethod, card);
  const returnUrl = textOf(form, 'return_url');
  const url = `https://hooks.stripe.example/redirect/${intent.id}`;
  intent.payment_method = paymentMethod;
  intent.status = 'requires_action';
  // Without a way back the action is one for Stripe's own script in the browser.
  intent.next_action = (
    returnUrl
      ? { type: 'redirect_to_url', redirect_to_url: { url, return_url: returnUrl } }
      : { type: 'use_stripe_sdk', use_stripe_sdk: {} }
  ) as Intent['next_action'];
  emit(account, 'payment_intent.requires_action', intent);
  return intent;
}

/** The issuer's decision, and Stripe's resulting state. */
export function authorizeCard(
  account: Account,
  intent: Intent,
  paymentMethod: string,
  card = cardOf(account, paymentMethod),
): Intent {
  const charge = newCharge(account, intent, card);
  intent.latest_charge = charge.id;
  if (card.decline !== undefined) {
    charge.status = 'failed';
    const { code = 'card_declined', decline, networkCode } = card;
    const { brand, last4, exp_month, exp_year, funding } = charge.payment_method_details.card;
    const payment_method = { id: paymentMethod, card: { brand, last4, exp_month, exp_year, funding } };
    const declined = {
      type: 'card_error',
      code,
      decline_code: decline,
      message: 'Your card was declined.',
      ...(networkCode && { network_decline_code: networkCode }),
      payment_method: payment_method as Stripe.PaymentMethod,
    } as const;
    intent.last_payment_error = declined;
    emit(account, 'payment_intent.payment_failed', intent);
    throw new FakeError(402, declined, true);
  }
  intent.payment_method = paymentMethod;
  intent.last_payment_error = null;
  intent.status = 'requires_capture';
  intent.amount_capturable = intent.amount;
  emit(account, 'payment_intent.amount_capturable_updated', intent);
  return intent;
}

function newCharge(account: Account, intent: Intent, card: TestCard): Charge {
  const asked = intent.payment_method_options?.card?.request_multicapture === 'if_available';
  const status = asked && card.features ? 'available' : 'unavailable';
  const charge: Charge = {
    id: newId('ch'),
    object: 'charge',
    amount: intent.amount,
    amount_captured: 0,
    amount_refunded: 0,
    captured: false,
    created: account.now(),
    currency: intent.currency,
    payment_intent: intent.id,
    status: 'succeeded',
    payment_method_details: {
      type: 'card',
      card: {
        brand: card.brand ?? 'visa',
        last4: card.last4,
        exp_month: 12,
        exp_year: 2034,
        funding: card.funding ?? 'credit',
        three_d_secure: card.threeDSecure ? ({ result: card.threeDSecure } as Card['three_d_secure']) : null,
        capture_before: account.now() + 7 * DAY_S,
        multicapture: { status },
        incremental_authorization: { status },
        network_transaction_id: newId('ntx').slice(0, 15),
        authorization_code: null,
      },
    },
  };
  account.charges.set(charge.id, charge);
  return charge;
}

export function chargeOf(account: Account, intent: Intent): Charge {
  const charge = account.charges.get(String(intent.latest_charge));
  if (!charge) throw new Error('the fake lost a charge');
  return charge;
}

export function captureIntent(account: Account, id: string, form: Form): Intent {
  const intent = findIntent(account, id);
  if (intent.status !== 'requires_capture') {
    const isExpired = intent.cancellation_reason === 'expired';
    const message = `This PaymentIntent could not be captured because it has a status of ${intent.status}.`;
    throw wrongState(message, isExpired ? 'charge_expired_for_capture' : undefined);
  }
  const charge = chargeOf(account, intent);
  const counts = account.counts.get(id) as { captures: number };
  const { multicapture } = charge.payment_method_details.card;
  const amount = numberOf(form, 'amount_to_capture') ?? intent.amount_capturable;
  const isSaid = textOf(form, 'final_capture') !== undefined;
  const isFinal = textOf(form, 'final_capture') !== 'false';
  if (isSaid && !isFinal && multicapture?.status !== 'available') {
    throw invalid('Multicapture is not available for this PaymentIntent.', 'final_capture');
  }
  if (amount > intent.amount_capturable)
    throw invalid('Amount is more than what can be captured.', 'amount_to_capture', 'amount_too_large');
  if (amount < 0 || (amount === 0 && (!isFinal || counts.captures === 0))) {
    throw invalid('Nothing to capture.', 'amount_to_capture', 'amount_too_small');
  }
  if (counts.captures >= 50) throw wrongState('You have reached the maximum number of captures.');
  counts.captures += 1;
  addMetadata(intent, form);
  charge.amount_captured += amount;
  intent.amount_received += amount;
  intent.amount_capturable = isFinal ? 0 : intent.amount_capturable - amount;
  emit(account, 'payment_intent.amount_capturable_updated', intent);
  if (isFinal) {
    charge.captured = true;
    intent.status = 'succeeded';
    emit(account, 'charge.captured', charge);
    emit(account, 'payment_intent.succeeded', intent);
  }
  return intent;
}

/** Keys that are given are added to those there are; at most 50, of 40 characters, with values of 500. */
function addMetadata(intent: Intent, form: Form): void {
  const metadata = { ...intent.metadata, ...(formOf(form, 'metadata') as Record<string, string>) };
  checkMetadata(metadata);
  intent.metadata = metadata;
}

function checkMetadata(metadata: Record<string, string>): void {
  const isTooLong = Object.entries(metadata).some(([key, value]) => key.length > 40 || value.length > 500);
  if (isTooLong || Object.keys(metadata).length > 50) throw invalid('Metadata is too large.', 'metadata');
}

export function cancelIntent(account: Account, id: string, form: Form): Intent {
  const intent = findIntent(account, id);
  const isOfSession = [...account.sessions.values()].some((session) => session.payment_intent === id);
  const states = isOfSession
    ? ['requires_capture']
    : ['requires_payment_method', 'requires_confirmation', 'requires_action', 'requires_capture'];
  if (!states.includes(intent.status)) {
    throw wrongState(`You cannot cancel this PaymentIntent because it has a status of ${intent.status}.`);
  }
  return endIntent(account, intent, textOf(form, 'cancellation_reason') ?? null);
}

/** Ends a PaymentIntent: one that was captured in part has then succeeded. */
export function endIntent(account: Account, intent: Intent, reason: string | null): Intent {
  const isCaptured = intent.amount_received > 0;
  intent.status = isCaptured ? 'succeeded' : 'canceled';
  intent.amount_capturable = 0;
  if (isCaptured) emit(account, 'charge.captured', chargeOf(account, intent));
  else Object.assign(intent, { canceled_at: account.now(), cancellation_reason: reason });
  emit(account, isCaptured ? 'payment_intent.succeeded' : 'payment_intent.canceled', intent);
  return intent;
}

export function incrementIntent(account: Account, id: string, form: Form): Intent {
  const intent = findIntent(account, id);
  const counts = account.counts.get(id) as { captures: number; increments: number };
  const amount = numberOf(form, 'amount');
  checkAmount(amount, intent.currency);
  if (intent.status !== 'requires_capture' || counts.captures > 0) {
    throw wrongState('This PaymentIntent cannot be incremented any more.');
  }
  const charge = chargeOf(account, intent);
  if (charge.payment_method_details.card.incremental_authorization?.status !== 'available') {
    throw wrongState('Incremental authorization is not available for this PaymentIntent.');
  }
  if (amount <= intent.amount) throw invalid('The amount must be greater than the authorized amount.', 'amount');
  if (counts.increments >= 10) throw wrongState('You have reached the maximum number of increments.');
  counts.increments += 1;
  // The fake's issuer approves up to 5 000.00.
  if (amount > 500_000) throw cardError('card_declined', 'insufficient_funds');
  addMetadata(intent, form);
  intent.amount = amount;
  intent.amount_capturable = amount;
  charge.amount = amount;
  emit(account, 'payment_intent.amount_capturable_updated', intent);
  return intent;
}

/** As an answer: with its charge, when the request expands it. */
export function shownIntent(account: Account, intent: Intent, expand: readonly string[]): object {
  const isExpanded = expand.some((path) => path.endsWith('latest_charge')) && intent.latest_charge !== null;
  return isExpanded ? { ...intent, latest_charge: chargeOf(account, intent) } : intent;
}
