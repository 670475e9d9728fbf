import type Stripe from 'stripe';
import { notPerformed } from '../../../platform/adapter/ending.ts';
import { OutcomeUnknown } from '../../../platform/adapter/serve.ts';
import { withRequestId } from '../../../platform/return-url.ts';
import { type Context, requestOptions, statementOf } from '../adapter-context.ts';
import { toStripe } from '../amount.ts';
import { ask } from '../api/ask.ts';
import { type Entry, markEntry } from '../ledger/entry.ts';
import { type Features, withFeatures } from './features.ts';
import { finish } from './finish.ts';
import { endingOf } from './intent-ending.ts';
import { metadataOf } from './mark.ts';

/** Stripe keeps a Checkout Session open for at least half an hour and at most a day. */
export const CHECKOUT_SHORTEST_MS = 30 * 60 * 1000;
export const CHECKOUT_LONGEST_MS = 24 * 60 * 60 * 1000;

const EXPIRED = notPerformed('checkout_expired', 'The customer did not complete the checkout in time.');

/** An open page. */
interface Page {
  readonly url: string;
  readonly expiresAt: Date;
}

/**
 * Opens the page of a stored checkout, or returns the one that is open. Returns the entry when the checkout has ended.
 * Throws OutcomeUnknown.
 */
export async function openPage(context: Context, entry: Entry): Promise<Page | Entry> {
  const { answer: session, failure } = await (entry.sessionId === null
    ? withFeatures(context, entry, (features, key) => create(context, entry, features, key))
    : ask(context, () => getSession(context, entry)));
  if (session) {
    context.reach('session created');
    await markEntry(context.database.query, entry.requestId, ['sent'], { stage: 'sent', sessionId: session.id });
    if (session.status === 'open' && session.url) {
      return { url: session.url, expiresAt: new Date(session.expires_at * 1000) };
    }
    const ended = await settleSession(context, entry, session);
    if (ended) return ended;
  }
  // Nobody was given the address of a page whose identifier is not stored.
  if (failure && failure.kind !== 'unknown' && failure.kind !== 'key reused' && entry.sessionId === null) {
    return finish(context, entry, notPerformed(failure.code, failure.message));
  }
  throw new OutcomeUnknown('the page is not known');
}

function create(context: Context, entry: Entry, features: Features, idempotencyKey: string) {
  const { requestId, merchantId, amount, currency, account, merchantName, saveCard } = entry;
  const description = entry.description || entry.merchantReference;
  // The customer comes back with the identifier, which proves nothing (docs/sandbox.md, "Checkout").
  const returnUrl = entry.returnUrl && withRequestId(entry.returnUrl, entry.operationRequestId || requestId);
  const metadata = metadataOf(entry);
  const params: Stripe.Checkout.SessionCreateParams = {
    mode: 'payment',
    allowed_payment_method_types: ['card'],
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency: currency.toLowerCase(),
          unit_amount: toStripe(amount, currency) as number,
          product_data: {
            name: merchantName || merchantId,
            ...(description !== '' && { description }),
          },
        },
      },
    ],
    payment_intent_data: {
      capture_method: 'manual',
      metadata,
      ...(description !== '' && { description }),
      ...statementOf(context, merchantId),
      ...(saveCard && { setup_future_usage: 'off_session' }),
    },
    payment_method_options: { card: features },
    ...(saveCard && { customer_creation: 'always' }),
    client_reference_id: requestId,
    metadata,
    expires_at: Math.floor((entry.expiresAt as Date).getTime() / 1000),
    success_url: returnUrl || (entry.closingUrl as string),
    ...(returnUrl !== '' && { cancel_url: returnUrl }),
  };
  return context.stripe.checkout.sessions.create(params, requestOptions(account, idempotencyKey));
}

/** Reads a Checkout Session as it is now. Throws what Stripe's client throws. */
export function getSession(
  context: Context,
  { sessionId, account }: Pick<Entry, 'sessionId' | 'account'>,
): Promise<Stripe.Checkout.Session> {
  const params: Stripe.Checkout.SessionRetrieveParams = { expand: ['payment_intent.latest_charge'] };
  return context.stripe.checkout.sessions.retrieve(sessionId as string, params, requestOptions(account));
}

/**
 * Asks Stripe about a checkout; undefined while it is open, or not known. `tell`: its end is reported to core as an
 * event.
 */
export async function settleCheckout(context: Context, entry: Entry, { tell = false } = {}) {
  if (entry.sessionId === null) {
    // A page whose opening was never answered ends at its time: nobody was given its address.
    const isOver = entry.expiresAt !== null && entry.expiresAt <= context.now();
    return isOver ? finish(context, entry, EXPIRED) : undefined;
  }
  const { answer: session } = await ask(context, () => getSession(context, entry));
  return session && settleSession(context, entry, session, { tell });
}

/**
 * Closes an open page, so that no card is taken any more; undefined when a card was taken first, or it is not known.
 */
export async function closePage(context: Context, entry: Entry): Promise<Entry | undefined> {
  const cancelled = notPerformed('checkout_cancelled', 'The merchant cancelled the checkout.');
  // Nobody knows the address of a page whose identifier was not stored.
  if (entry.sessionId === null) return finish(context, entry, cancelled);
  const { sessionId, account } = entry;
  const { answer } = await ask(context, () =>
    context.stripe.checkout.sessions.expire(sessionId as string, {}, requestOptions(account)),
  );
  return answer?.status === 'expired' ? finish(context, entry, cancelled) : undefined;
}

async function settleSession(context: Context, entry: Entry, session: Stripe.Checkout.Session, { tell = false } = {}) {
  if (session.status === 'expired') return finish(context, entry, EXPIRED, { tell });
  const intent = session.payment_intent;
  if (session.status !== 'complete' || typeof intent !== 'object' || intent === null) return undefined;
  const ending = endingOf(intent, entry);
  return ending && finish(context, entry, { ...ending, intentId: intent.id }, { tell });
}
