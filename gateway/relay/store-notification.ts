import type { SignedFields } from '../../client/webhooks/signature.ts';
import { errorFields, type Log } from '../../platform/log.ts';
import { AcceptOutcome, QuarantineReason } from '../../proto/gen/holdfast/v1/notification_pb.js';
import { Problem } from '../http/problem.ts';
import { openAccept, WITHIN } from './accept-notifications.ts';
import { type Announced, isContradiction, kindForCore } from './announced.ts';
import type { RelayOptions } from './relay-options.ts';

/** A verified notification, with the bytes that were received. */
interface Verified extends Announced, SignedFields {
  readonly body: Buffer;
  readonly signature: string;
}

/** How a stored notification is answered. */
interface Stored {
  readonly status: 200 | 202;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Returns how to store a verified notification at core: to be answered 200, or 202 when core quarantined it. Senders
 * retry after an error and finally give up on the endpoint; a retry does not change a quarantined notification. Throws
 * UNAVAILABLE when the notification is not stored: the sender must retry.
 */
export function openStore(notifications: RelayOptions['notifications'], log: Log) {
  const accept = openAccept(notifications);
  return async (verified: Verified): Promise<Stored> => {
    const notification = { ...verified, kind: kindForCore(verified.kind) };
    if (isContradiction(verified, verified.status)) {
      const reason = QuarantineReason.STATUS_INFO_CONTRADICTED;
      await onDisk(notifications.quarantineNotification({ ...notification, reason }, WITHIN), log);
      return { status: 202, headers: { 'X-Relay-Held': 'contradiction' } };
    }
    switch (await onDisk(accept(notification), log)) {
      case AcceptOutcome.STORED:
        return { status: 200, headers: {} };
      case AcceptOutcome.DUPLICATE:
        return { status: 200, headers: { 'X-Relay-Duplicate': 'true' } };
      case AcceptOutcome.CONFLICT:
        return { status: 202, headers: { 'X-Relay-Held': 'conflict' } };
      default:
        // A later version of core may return other outcomes; 200 is only for those that are known to be stored.
        throw unavailable();
    }
  };
}

const RETRY_AFTER_SECONDS = 5;

/** Any refusal of core becomes UNAVAILABLE: the notification was valid and verified, so the sender is not at fault. */
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
