import { type Account, emit, newId, type PaymentMethod, type Session, type SessionTerms } from './account.ts';
import { checkAmount } from './amounts.ts';
import { FakeError, invalid, missing, wrongState } from './fake-error.ts';
import { type Form, formOf, numberOf, textOf } from './form.ts';
import { authorizeCard, featuresOf, newIntent } from './payment-intents.ts';

const HALF_AN_HOUR_S = 30 * 60;
const DAY_S = 24 * 60 * 60;

export function createSession(account: Account, form: Form, origin: string): Session {
  if (textOf(form, 'mode') !== 'payment') throw invalid('the fake takes mode payment only', 'mode');
  const price = formOf(formOf(formOf(form, 'line_items'), '0'), 'price_data');
  const currency = textOf(price, 'currency') ?? '';
  const amount = numberOf(price, 'unit_amount');
  checkAmount(amount, currency);
  if (!textOf(formOf(price, 'product_data'), 'name'))
    throw invalid('Missing name', 'line_items[0][price_data][product_data][name]');
  const successUrl = textOf(form, 'success_url');
  if (!successUrl) throw invalid('Missing required param: success_url.', 'success_url', 'parameter_missing');
  const expiresAt = numberOf(form, 'expires_at') ?? account.now() + DAY_S;
  if (expiresAt < account.now() + HALF_AN_HOUR_S || expiresAt > account.now() + DAY_S) {
    throw invalid('The `expires_at` timestamp must be between 30 minutes and 24 hours from now.', 'expires_at');
  }
  const features = featuresOf(account, form);
  const data = formOf(form, 'payment_intent_data');
  const id = newId('cs_test');
  const session: Session = {
    id,
    object: 'checkout.session',
    amount_total: amount,
    client_reference_id: textOf(form, 'client_reference_id') ?? null,
    created: account.now(),
    currency,
    customer_creation: textOf(form, 'customer_creation') ?? 'if_required',
    expires_at: expiresAt,
    metadata: formOf(form, 'metadata') as Record<string, string>,
    mode: 'payment',
    payment_intent: null,
    payment_status: 'unpaid',
    status: 'open',
    success_url: successUrl,
    cancel_url: textOf(form, 'cancel_url') ?? null,
    url: `${origin}/c/pay/${id}`,
  };
  const intentMetadata = formOf(data, 'metadata') as Record<string, string>;
  account.sessions.set(id, session);
  account.terms.set(id, {
    features,
    futureUsage: textOf(data, 'setup_future_usage') === 'off_session',
    intentMetadata,
    description: textOf(data, 'description') ?? null,
  });
  return session;
}

export function findSession(account: Account, id: string): Session {
  const session = account.sessions.get(id);
  if (!session) throw missing('checkout.session', id, 'session');
  if (session.status === 'open' && session.expires_at <= account.now()) closeSession(account, session);
  return session;
}

export function expireSession(account: Account, id: string): Session {
  const session = findSession(account, id);
  if (session.status !== 'open') {
    throw wrongState(
      `Only Checkout Sessions with a status in ["open"] can be expired. This one is ${session.status}.`,
      'invalid_request',
    );
  }
  return closeSession(account, session);
}

function closeSession(account: Account, session: Session): Session {
  session.status = 'expired';
  session.url = null;
  emit(account, 'checkout.session.expired', session);
  return session;
}

/** The customer enters a card. After a decline the page stays open. */
export function completeSession(account: Account, id: string, card: string): Session {
  const session = findSession(account, id);
  if (session.status !== 'open') throw new Error(`the page is ${session.status}`);
  const { features, futureUsage, intentMetadata, description } = account.terms.get(id) as SessionTerms;
  const customer = session.customer_creation === 'always' ? newId('cus') : null;
  const amount = session.amount_total as number;
  const intent = newIntent(account, {
    amount,
    currency: session.currency as string,
    customer,
    metadata: intentMetadata,
    description,
  });
  const options = features ? { card: { request_multicapture: 'if_available' } } : null;
  intent.payment_method_options = options as typeof intent.payment_method_options;
  intent.setup_future_usage = futureUsage ? 'off_session' : null;
  try {
    authorizeCard(account, intent, card);
  } catch (error) {
    if (error instanceof FakeError) return session;
    throw error;
  }
  intent.payment_method = saveCard(account, futureUsage ? customer : null).id;
  Object.assign(session, { status: 'complete', url: null, payment_intent: intent.id });
  emit(account, 'checkout.session.completed', session);
  return session;
}

function saveCard(account: Account, customer: string | null): PaymentMethod {
  const method: PaymentMethod = {
    id: newId('pm'),
    object: 'payment_method',
    created: account.now(),
    customer,
    livemode: false,
    type: 'card',
  };
  account.paymentMethods.set(method.id, method);
  return method;
}
