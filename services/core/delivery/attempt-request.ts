import {
  SIGNED_FIELDS,
  type SignedFields,
  signNotification,
  signStandardWebhook,
} from '../../../client/webhooks/signature.ts';
import { DestinationRefused } from '../egress/destination.ts';
import type { DeliveryRow } from '../storage/delivery/delivery-row.ts';

/** The parts of a notification that its URL contains, besides the endpoint. */
type NotificationPath = Pick<DeliveryRow, 'kind' | 'statusInfo'>;

/** The URL of a notification: the endpoint's, then its path. Throws DestinationRefused when a part is malformed. */
export function notificationUrl(endpointUrl: string, path: NotificationPath): URL {
  const url = parseEndpointUrl(endpointUrl);
  url.pathname = url.pathname.replace(/\/+$/, '') + notificationPath(path);
  return url;
}

/** Returns the path to append to an endpoint's URL. Throws DestinationRefused when a part is malformed. */
export function notificationPath({ kind, statusInfo }: NotificationPath): string {
  if (kind === 'relay') return `/webhook/relay/${statusInfo}`;
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,31}$/.test(statusInfo)) throw new DestinationRefused('statusInfo is malformed');
  return `/webhook/processor/${kind}/${statusInfo}`;
}

/** Parses an endpoint's URL: http or https, a host, optionally a path, nothing else. Throws DestinationRefused. */
export function parseEndpointUrl(text: string): URL {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '') {
    throw new DestinationRefused('the address is not an http or https URL');
  }
  if (url.username !== '' || url.password !== '') throw new DestinationRefused('the address carries a user name');
  if (url.search !== '' || url.hash !== '') throw new DestinationRefused('the address carries a query or fragment');
  return url;
}

/** The signed request. */
export interface Outgoing {
  /** The delivery's id: the same in every attempt. */
  readonly id: string;
  /** The sender's own X-Service-Signature, for a relayed notification; null = we are the sender. */
  readonly signature: string | null;
  /** The headers of another sender's notification; null or absent = it is of no other sender. */
  readonly relayedHeaders?: Readonly<Record<string, string>> | null | undefined;
  readonly body: Buffer;
}

/**
 * The headers of one attempt. `secrets` are the merchant's live signing secrets, oldest first. The oldest makes the
 * X-Service-Signature until it is retired, so that a receiver without the new one can verify; all of them sign for
 * Standard Webhooks. Another sender's notification has that sender's headers instead of X-Service-Signature. Throws
 * NoSecret.
 */
export function attemptHeaders(outgoing: Outgoing, secrets: readonly string[], at: Date): Record<string, string> {
  const [older] = secrets;
  if (older === undefined) throw new NoSecret();
  const { id, body, signature, relayedHeaders } = outgoing;
  const timestampSeconds = Math.floor(at.getTime() / 1_000);
  return {
    'content-type': 'application/json',
    'user-agent': 'Holdfast/1',
    ...(relayedHeaders ?? { 'x-service-signature': signature ?? signNotification(older, signedFieldsOf(body)) }),
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': secrets.map((secret) => signStandardWebhook(secret, { id, timestampSeconds, body })).join(' '),
    ...(!relayedHeaders && signature !== null && { 'x-relay-signed-fields': SIGNED_FIELDS.join(',') }),
  };
}

/** The merchant has no live signing secret: the attempt fails, and a later one may succeed. */
export class NoSecret extends Error {
  constructor() {
    super('the merchant has no live signing secret');
    this.name = 'NoSecret';
  }
}

/** The signed fields as the body spells them, the amount too. Throws, without quoting the body, when one is missing. */
function signedFieldsOf(body: Buffer): SignedFields {
  const { merchantId, requestId, status, amount, currency } = parsed(body);
  for (const field of [merchantId, requestId, status, amount, currency]) {
    if (typeof field !== 'string') throw new Error('the body lacks a signed field');
  }
  return { merchantId, requestId, status, amount, currency } as SignedFields;
}

function parsed(body: Buffer): Record<string, unknown> {
  try {
    return JSON.parse(body.toString('utf8'), withAmountsSource as (key: string, value: unknown) => unknown) ?? {};
  } catch {
    throw new Error('the body is not JSON');
  }
}

/** JSON.parse with source text access (ECMA-262): the holder of the outermost amount is replaced last. */
function withAmountsSource(this: unknown, key: string, value: unknown, context: { source?: string }): unknown {
  return key === 'amount' && typeof value === 'number' ? context.source : value;
}
