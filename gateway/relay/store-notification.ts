import type { Context } from 'koa';
import { AcceptOutcome, NotificationKind, QuarantineReason } from '../../proto/gen/holdfast/v1/notification_pb.js';
import { errorFields, type Log } from '../../proto/log.ts';
import type { SignedFields } from '../../proto/signature.ts';
import { Problem } from '../problem.ts';
import { type Accept, WITHIN } from './accept-notifications.ts';
import type { Announced } from './announced.ts';
import { isContradiction } from './contradiction.ts';
import type { RelayOptions } from './relay.ts';

/** A notification that was verified, byte for byte. */
interface Verified extends Announced, SignedFields {
  readonly body: Buffer;
  readonly signature: string;
}

/**
 * Has core put a verified notification on disk and answers 200, or 202 for one that core quarantined. A sender repeats
 * what is answered with an error, and in the end gives the endpoint up; repeating changes nothing about a quarantined
 * one. Throws UNAVAILABLE for everything that is not on disk: the sender shall send it again.
 */
export async function storeNotification(
  ctx: Context,
  { accept, notifications, log }: Pick<RelayOptions, 'notifications' | 'log'> & { readonly accept: Accept },
  { kind, ...rest }: Verified,
): Promise<void> {
  const notification = { ...rest, kind: kind === 'payment' ? NotificationKind.PAYMENT : NotificationKind.OCT };
  if (isContradiction({ kind, statusInfo: rest.statusInfo }, rest.status)) {
    const reason = QuarantineReason.STATUS_INFO_CONTRADICTED;
    await onDisk(notifications.quarantineNotification({ ...notification, reason }, WITHIN), log);
    return answer(ctx, 202, rest.requestId, { 'X-Relay-Held': 'contradiction' });
  }
  const outcome = await onDisk(accept(notification), log);
  if (outcome === AcceptOutcome.CONFLICT) return answer(ctx, 202, rest.requestId, { 'X-Relay-Held': 'conflict' });
  const isDuplicate = outcome === AcceptOutcome.DUPLICATE;
  // Core of a later version may say more; only what is known to be on disk is answered with 200.
  if (!isDuplicate && outcome !== AcceptOutcome.STORED) throw unavailable();
  answer(ctx, 200, rest.requestId, isDuplicate ? { 'X-Relay-Duplicate': 'true' } : {});
}

function answer(ctx: Context, status: 200 | 202, requestId: string, headers: Readonly<Record<string, string>>): void {
  ctx.set(headers);
  ctx.status = status;
  ctx.body = { requestId };
}

const RETRY_AFTER_SECONDS = 5;

/** Whatever core's refusal, it is not the sender's fault: the notification was well-formed and verified. */
async function onDisk<T>(call: Promise<T>, log: Log): Promise<T> {
  try {
    return await call;
  } catch (error) {
    log.warn('verified notification not stored', errorFields(error));
    throw unavailable(error);
  }
}

function unavailable(cause?: unknown): Problem {
  const detail = 'The notification cannot be stored now; send it again.';
  return new Problem('UNAVAILABLE', { detail, retryAfterSeconds: RETRY_AFTER_SECONDS, cause });
}
