import type Stripe from 'stripe';
import { announce } from '../../../platform/adapter/postgres/inbox.ts';
import type { Webhooks } from '../../../platform/adapter/webhook-server.ts';
import type { Context } from '../adapter-context.ts';
import { authorizationOf } from '../settlement/mark.ts';

/** What Stripe announced: that something happened to an object. What it is now must be asked for. */
export interface Notice {
  readonly type: string;
  /** Stripe's account id; empty = the API key's own. */
  readonly account: string;
  /** A PaymentIntent `pi_…` or Checkout Session `cs_…`. */
  readonly objectId: string;
}

/** Where a customer goes after a checkout that names no address. */
export const CLOSING_PATH = '/closed';

export const CLOSING_PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Done</title>
<h1>Done</h1><p>You can close this page.</p></html>`;

/**
 * Takes what is posted to `/webhook/stripe`. An event is answered 200 once it is stored. Any of the secrets, those of
 * the endpoints, may have signed.
 */
export function webhooksTo(context: Context, secrets: readonly string[], onNotice: () => void): Webhooks {
  const { database, log, stripe } = context;
  return {
    path: '/webhook/stripe',
    async take(body, { 'stripe-signature': signature }) {
      const event = verified(stripe, secrets, body, signature);
      if (!event) {
        log.warn('webhook refused', { reason: 'signature', bodyBytes: body.length });
        return [400];
      }
      const notice = noticeOf(event);
      const isNew = notice && (await announce(database.query, { key: event.id, item: notice }));
      const said = { eventId: event.id, kind: event.type };
      log.info('webhook', { ...said, kept: notice !== undefined, duplicate: isNew === false });
      if (isNew) onNotice();
      return [200];
    },
  };
}

/** The event, when one of the secrets signed it within the last five minutes. */
function verified(stripe: Stripe, secrets: readonly string[], body: Buffer, header: string | string[] | undefined) {
  if (typeof header !== 'string') return undefined;
  for (const secret of secrets) {
    try {
      return stripe.webhooks.constructEvent(body, header, secret);
    } catch {
      // Signed with another secret, with none, or not JSON.
    }
  }
  return undefined;
}

/** The events that say something of a payment; docs/stripe.md lists them for the endpoint. */
export const EVENT_TYPES = [
  'checkout.session.completed',
  'checkout.session.expired',
  'payment_intent.amount_capturable_updated',
  'payment_intent.canceled',
  'payment_intent.payment_failed',
  'payment_intent.succeeded',
  'charge.captured',
  'charge.expired',
  'charge.refunded',
  'charge.refund.updated',
  'refund.created',
  'refund.updated',
  'refund.failed',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.funds_reinstated',
  'charge.dispute.closed',
] as const;

interface Announced {
  readonly object?: string;
  readonly id?: string;
  readonly payment_intent?: string | { id: string } | null;
  readonly metadata?: Stripe.Metadata | null;
}

/**
 * Which payment of ours an event is about, or undefined. What the event says of it is not used: events come late and in
 * any order.
 */
function noticeOf(event: Stripe.Event): Notice | undefined {
  if (!(EVENT_TYPES as readonly string[]).includes(event.type)) return undefined;
  const object = event.data.object as Announced;
  const intent = typeof object.payment_intent === 'string' ? object.payment_intent : object.payment_intent?.id;
  const isItself = object.object === 'payment_intent' || object.object === 'checkout.session';
  if (isItself && authorizationOf(object.metadata) === undefined) return undefined;
  const objectId = isItself ? object.id : intent;
  if (!objectId) return undefined;
  return { type: event.type, account: event.account ?? '', objectId };
}
