/** Receives a notification: verify, store once, answer 200. The documents point to this example. */
import type { Context } from 'koa';
import { InvalidNotification, type Notification, verify } from '../../client/webhooks/verify.ts';
import type { Log } from '../../platform/log.ts';
import { readBody, UNREAD_STATUS } from '../../platform/read-body.ts';
import type { Received } from './received.ts';
import type { MerchantSettings } from './settings.ts';

/** The relay's own bounds. */
const BODY_BOUNDS = { maxBytes: 65_536, timeoutMs: 5_000 };

/**
 * Answers 200 once the notification is on disk, also for a repetition; 401 when the signature does not verify; 400 when
 * the body is no notification, 413 when it is too large, 408 when it comes too slowly.
 */
export async function takeNotification(
  ctx: Context,
  { kind, statusInfo }: { kind: string; statusInfo: string },
  { settings, received, log }: { settings: MerchantSettings; received: Received; log: Log },
): Promise<void> {
  const bytes = await readBody(ctx.req, BODY_BOUNDS);
  if (typeof bytes === 'string') {
    // The rest of the body is not read, so the connection cannot be reused.
    ctx.set('connection', 'close');
    return refuse(ctx, UNREAD_STATUS[bytes], 'too large or too slow', log);
  }
  const claimed = merchantOf(bytes);
  if (claimed === undefined) return refuse(ctx, 400, 'not a notification', log);
  const secrets = Object.hasOwn(settings.SIGNING_SECRETS, claimed) ? settings.SIGNING_SECRETS[claimed] : undefined;
  const body = verified(ctx, bytes, secrets ?? []);
  if (body === undefined) return refuse(ctx, 401, 'signature does not verify', log);
  const headers = Object.fromEntries(
    KEPT_HEADERS.filter((name) => ctx.get(name) !== '').map((name) => [name, ctx.get(name)]),
  );
  const { merchantId, requestId } = body;
  const bodyText = bytes.toString('utf8');
  const duplicate = received.keep({ merchantId, requestId, kind, statusInfo, headers, body, bodyText });
  log.info('received', { kind, statusInfo, requestId, duplicate });
  ctx.body = { received: true, duplicate };
}

/** The merchant that a notification says it is for; undefined when it is none. Its secrets say whether that is true. */
function merchantOf(bytes: Buffer): string | undefined {
  try {
    const { merchantId, requestId } = JSON.parse(bytes.toString('utf8')) ?? {};
    return typeof merchantId === 'string' && typeof requestId === 'string' ? merchantId : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function verified(ctx: Context, bytes: Buffer, secrets: readonly string[]): Notification | undefined {
  try {
    return verify(ctx.headers, bytes, secrets);
  } catch (error) {
    if (error instanceof InvalidNotification) return undefined;
    throw error;
  }
}

/** The headers that are shown. Signatures are not: whoever has one can replay this body. */
const KEPT_HEADERS = ['content-type', 'webhook-id', 'webhook-timestamp', 'x-relay-signed-fields', 'user-agent'];

function refuse(ctx: Context, status: number, reason: string, log: Log): void {
  log.info('refused', { reason });
  ctx.status = status;
  ctx.body = { error: reason };
}
