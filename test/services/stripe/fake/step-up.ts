import type { Account, Intent } from './account.ts';
import { emit } from './account.ts';
import { wrongState } from './fake-error.ts';
import { authorizeCard, cardOf, findIntent } from './payment-intents.ts';

/** The customer's answer to the issuer, after which Stripe goes on, or asks for another card. */
export function answerAction(account: Account, id: string, isAuthenticated: boolean): Intent {
  const intent = findIntent(account, id);
  if (intent.status !== 'requires_action') throw wrongState('Nothing is asked of the customer.');
  intent.next_action = null;
  if (isAuthenticated) {
    const card = cardOf(account, String(intent.payment_method));
    return authorizeCard(account, intent, String(intent.payment_method), { ...card, decline: undefined });
  }
  intent.status = 'requires_payment_method';
  intent.payment_method = null;
  intent.last_payment_error = {
    type: 'invalid_request_error',
    code: 'payment_intent_authentication_failure',
    message: 'The provided PaymentMethod has failed authentication.',
  } as Intent['last_payment_error'];
  emit(account, 'payment_intent.payment_failed', intent);
  return intent;
}
