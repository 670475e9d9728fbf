import type { IncomingMessage, ServerResponse } from 'node:http';
import type Stripe from 'stripe';
import type { Database } from '../../../platform/adapter/postgres/database.ts';
import { readBody } from '../../../platform/http-server.ts';
import { errorFields, type Log } from '../../../platform/log.ts';
import { insertNotice, type Notice } from '../ledger/notice.ts';
import { authorizationOf } from '../settlement/mark.ts';

/** What the webhook server needs. */
export interface Receiver {
  readonly database: Database;
  readonly webhooks: Stripe['webhooks'];
  /** Signing secrets of the endpoints, any of which may have signed. */
  readonly secrets: readonly string[];
  readonly log: Log;
  /** Called when there is a new notice. */
  readonly onNotice: () => void;
}

/** The paths of the webhook server. */
const WEBHOOK_PATH = '/webhook/stripe';
export const CLOSING_PATH = '/closed';

const LONGEST_BODY = 1024 * 1024;

/** Nobody is known before the signature is checked, so what unchecked bodies can take of the memory is limited. Stripe sends again. */
const MOST_BODIES = 32;

/**
 * Answers the webhook server: `POST /webhook/stripe` takes events, `GET /closed` is where a customer goes after a
 * checkout that names no address, `GET /healthz` is for those who watch. An event is answered 200 once it is stored.
 */
export function receiveWebhooks(receiver: Receiver): (request: IncomingMessage, response: ServerResponse) => void {
  const reading = new Set<IncomingMessage>();
  return (request, response) => {
    answer(receiver, request, reading).then(
      // The rest of a body that is not read whole stays in its connection, which cannot be reused.
      ({ status, text = '' }) => {
        const isUnread = status === 413 || status === 503;
        response.writeHead(status, { ...HEADERS, ...(isUnread && { connection: 'close' }) }).end(text);
      },
      (error: unknown) => {
        receiver.log.error('webhook failed', errorFields(error));
        response.writeHead(503, HEADERS).end();
      },
    );
  };
}

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
};

const CLOSING_PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Done</title>
<h1>Done</h1><p>You can close this page.</p></html>`;

async function answer(
  receiver: Receiver,
  request: IncomingMessage,
  reading: Set<IncomingMessage>,
): Promise<{ status: number; text?: string }> {
  const path = request.url?.split('?', 1)[0];
  if (path === '/healthz' && request.method === 'GET') return { status: 200 };
  if (path === CLOSING_PATH && request.method === 'GET') return { status: 200, text: CLOSING_PAGE };
  if (path !== WEBHOOK_PATH) return { status: 404 };
  if (request.method !== 'POST') return { status: 405 };
  if (reading.size >= MOST_BODIES) return { status: 503 };
  reading.add(request);
  // The bytes as they came: the signature is over them.
  const body = await readBody(request, LONGEST_BODY).finally(() => reading.delete(request));
  if (!body) return { status: 413 };
  const event = verified(receiver, body, request.headers['stripe-signature']);
  if (!event) {
    receiver.log.warn('webhook refused', { reason: 'signature', bodyBytes: body.length });
    return { status: 400 };
  }
  const notice = noticeOf(event);
  const isNew = notice && (await insertNotice(receiver.database.query, notice));
  receiver.log.info('webhook', {
    eventId: event.id,
    kind: event.type,
    kept: notice !== undefined,
    duplicate: isNew === false,
  });
  if (isNew) receiver.onNotice();
  return { status: 200 };
}

/** The event, when one of the secrets signed it within the last five minutes. */
function verified(receiver: Receiver, body: Buffer, header: string | string[] | undefined): Stripe.Event | undefined {
  if (typeof header !== 'string') return undefined;
  for (const secret of receiver.secrets) {
    try {
      return receiver.webhooks.constructEvent(body, header, secret);
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

/** Which payment of ours an event is about, or undefined. What the event says of it is not used: events come late and in any order. */
function noticeOf(event: Stripe.Event): Notice | undefined {
  if (!(EVENT_TYPES as readonly string[]).includes(event.type)) return undefined;
  const object = event.data.object as Announced;
  const intent = typeof object.payment_intent === 'string' ? object.payment_intent : object.payment_intent?.id;
  const isItself = object.object === 'payment_intent' || object.object === 'checkout.session';
  if (isItself && authorizationOf(object.metadata) === undefined) return undefined;
  const objectId = isItself ? object.id : intent;
  if (!objectId) return undefined;
  return { eventId: event.id, type: event.type, account: event.account ?? '', objectId };
}
