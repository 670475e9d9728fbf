import type Stripe from 'stripe';
import type { Notice } from '../ledger/notice.ts';

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
  'refund.created',
  'refund.updated',
  'refund.failed',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.funds_reinstated',
  'charge.dispute.closed',
] as const;

/** Which payment an event is about, or undefined. What the event says of it is not used: events come late and in any order. */
export function noticeOf(event: Stripe.Event): Notice | undefined {
  if (!(EVENT_TYPES as readonly string[]).includes(event.type)) return undefined;
  const object = event.data.object as { object?: string; id?: string; payment_intent?: string | { id: string } | null };
  const intent = typeof object.payment_intent === 'string' ? object.payment_intent : object.payment_intent?.id;
  const isItself = object.object === 'payment_intent' || object.object === 'checkout.session';
  const objectId = isItself ? object.id : intent;
  if (!objectId) return undefined;
  return { eventId: event.id, type: event.type, account: event.account ?? '', objectId };
}
