/** Receives a notification: verify, store once, answer 200. The documents point to this example. */
import type { Context } from 'koa';
import { SIGNED_FIELDS, type SignedFields, verifyNotification } from '../../client/webhooks/signature.ts';
import { readBody } from '../../platform/http-server.ts';
import type { Log } from '../../platform/log.ts';
import type { Received } from './received.ts';
import type { MerchantSettings } from './settings.ts';

/** The relay's own limit. */
const MAX_BODY_BYTES = 65_536;

/**
 * Answers 200 once the notification is on disk, also for a repetition; 401 when the signature does not verify; 400 when the body is no
 * notification, 404 for an unknown kind, 413 when it is too large.
 */
export async function takeNotification(
  ctx: Context,
  { kind, statusInfo }: { kind: string; statusInfo: string },
  { settings, received, log }: { settings: MerchantSettings; received: Received; log: Log },
): Promise<void> {
  if (kind !== 'payment' && kind !== 'oct') return refuse(ctx, 404, 'unknown kind', log);
  const bytes = await readBody(ctx.req, MAX_BODY_BYTES);
  if (bytes === undefined) {
    // The rest of the body is not read, so the connection cannot be reused.
    ctx.set('connection', 'close');
    return refuse(ctx, 413, 'too large', log);
  }
  const text = bytes.toString('utf8');
  const notification = readSignedFields(text);
  if (notification === undefined) return refuse(ctx, 400, 'not a notification', log);
  const { signed, body } = notification;
  const secrets = Object.hasOwn(settings.SIGNING_SECRETS, signed.merchantId)
    ? (settings.SIGNING_SECRETS[signed.merchantId] ?? [])
    : [];
  if (!verifyNotification(secrets, signed, ctx.get('x-service-signature'))) {
    return refuse(ctx, 401, 'signature does not verify', log);
  }
  const headers = Object.fromEntries(
    KEPT_HEADERS.filter((name) => ctx.get(name) !== '').map((name) => [name, ctx.get(name)]),
  );
  const { requestId, merchantId } = signed;
  const duplicate = received.keep({ merchantId, requestId, kind, statusInfo, headers, body, bodyText: text });
  log.info('received', { kind, statusInfo, requestId, duplicate });
  ctx.body = { received: true, duplicate };
}

/**
 * Reads a body: the parsed JSON, and the signed fields as their source text, because 10.50 must not become 10.5 before it is
 * verified. Undefined when it is not a JSON object with all five.
 */
function readSignedFields(text: string): { signed: SignedFields; body: object } | undefined {
  const sources = new Map<unknown, Map<string, string>>();
  let body: unknown;
  try {
    body = JSON.parse(text, function (this: unknown, name: string, value: unknown, context?: { source?: string }) {
      const source = typeof value === 'number' ? context?.source : value;
      const siblings = sources.get(this) ?? new Map<string, string>();
      if (typeof source === 'string') sources.set(this, siblings.set(name, source));
      return value;
    } as (name: string, value: unknown) => unknown);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const top = sources.get(body);
  if (top === undefined || Array.isArray(body)) return undefined;
  const signed = Object.fromEntries(SIGNED_FIELDS.map((name) => [name, top.get(name)]));
  if (Object.values(signed).includes(undefined)) return undefined;
  return { signed: signed as unknown as SignedFields, body: body as object };
}

/** The headers that are shown. Signatures are not: whoever has one can replay this body. */
const KEPT_HEADERS = ['content-type', 'webhook-id', 'webhook-timestamp', 'x-relay-signed-fields', 'user-agent'];

function refuse(ctx: Context, status: number, reason: string, log: Log): void {
  log.info('refused', { reason });
  ctx.status = status;
  ctx.body = { error: reason };
}
