import { status } from '@grpc/grpc-js';
import type { SignedFields } from '../../client/webhooks/signature.ts';
import { Gather } from '../../platform/gather.ts';
import { errorFields, type Log } from '../../platform/log.ts';
import { traceParent } from '../../platform/tracing.ts';
import {
  type AcceptNotificationRequest,
  AcceptOutcome,
  NotificationKind,
  QuarantineReason,
} from '../../proto/gen/holdfast/v1/notification_pb.js';
import type { AcceptRelayedNotificationRequest } from '../../proto/gen/holdfast/v1/relay_pb.js';
import type { Core } from '../core/client.ts';
import { isServiceError, Problem } from '../http/problem.ts';
import { STATUS_INFOS, wordsOf } from '../resource/status-words.ts';
import type { Described } from './describe-relayed.ts';

/** The announcement in a notification's path. */
export interface Announced {
  readonly kind: 'payment' | 'oct';
  readonly statusInfo: string;
}

/** The kinds as core names them. */
export const KIND_FOR_CORE = {
  payment: NotificationKind.PAYMENT,
  oct: NotificationKind.OCT,
  relay: NotificationKind.RELAY,
} as const;

/** A verified notification, with the bytes that were received. */
interface Verified extends Announced, SignedFields {
  readonly body: Buffer;
  readonly signature: string;
}

/**
 * Returns how to store a verified notification at core: to be answered 200, or 202 when core quarantined it. Senders
 * retry after an error and finally give up on the endpoint; a retry does not change a quarantined notification. Throws
 * UNAVAILABLE when the notification is not stored: the sender must retry.
 */
export function openStore(notifications: Core['notifications'], log: Log) {
  const accept = openAccept(notifications);
  return async (verified: Verified) => {
    const notification = { ...verified, kind: KIND_FOR_CORE[verified.kind] };
    if (isContradiction(verified, verified.status)) {
      const reason = QuarantineReason.STATUS_INFO_CONTRADICTED;
      await onDisk(notifications.quarantineNotification({ ...notification, reason }, WITHIN), log);
      return { status: 202, headers: { 'X-Relay-Held': 'contradiction' } };
    }
    return answerTo(await onDisk(accept(notification), log));
  };
}

/** The same for a notification of another sender. Returns its requestId, too. */
export function openSenderStore(relay: Core['relay'], log: Log) {
  return async (verified: Relayed) => {
    const request = { ...verified, traceParent: traceParent() ?? '' };
    const { outcome, requestId } = await onDisk(relay.acceptRelayedNotification(request, WITHIN), log);
    return { ...answerTo(outcome), requestId };
  };
}

type Relayed = Described & Pick<AcceptRelayedNotificationRequest, 'merchantId' | 'senderId' | 'body'>;

/** Throws UNAVAILABLE for no known outcome. */
function answerTo(outcome: AcceptOutcome): { status: number; headers: Record<string, string> } {
  switch (outcome) {
    case AcceptOutcome.STORED:
      return { status: 200, headers: {} };
    case AcceptOutcome.DUPLICATE:
      return { status: 200, headers: { 'X-Relay-Duplicate': 'true' } };
    case AcceptOutcome.CONFLICT:
      return { status: 202, headers: { 'X-Relay-Held': 'conflict' } };
    default:
      // A later version of core may return other outcomes. Only the known ones are answered 200.
      throw unavailable();
  }
}

/** The status that each of our statusInfo words implies, by kind (docs/verify-webhooks.md, "Paths"). */
const WORDS = { payment: wordsOf('payment'), oct: wordsOf('oct') } as const;
const OURS: ReadonlySet<string> = new Set(STATUS_INFOS);

/**
 * Returns whether the path contradicts the signed status. The path is not signed, so anybody with one notification
 * could send it under another. Unknown words of other senders pass. Our own are compared without regard to case,
 * because a receiver may do so.
 */
function isContradiction({ kind, statusInfo }: Announced, status: string): boolean {
  const word = statusInfo.toLowerCase();
  const implied = WORDS[kind][word];
  return OURS.has(word) && implied !== status && implied !== 'EITHER';
}

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
  return new Problem('UNAVAILABLE', { detail, retryAfterSeconds: 5, cause });
}

/** A notification as core accepts it. */
export type Acceptable = Omit<AcceptNotificationRequest, '$typeName' | '$unknown' | 'traceParent'>;

/** With its deadline, which counts from the submission. */
type Waiting = Acceptable & { readonly traceParent: string; readonly endsAtMs: number };

/**
 * Gathers the notifications that arrive while calls are running into one call. What it returns stores a notification
 * at core, and rejects when there is no result within 8 s.
 */
export function openAccept(
  notifications: Pick<Core['notifications'], 'acceptNotification' | 'batchAcceptNotifications'>,
): (notification: Acceptable) => Promise<AcceptOutcome> {
  const gather = new Gather<Waiting, AcceptOutcome>(
    async (batch) => {
      const [first] = batch as readonly [Waiting];
      // The deadline of the oldest notification, so that none is answered late.
      const within = { timeoutMs: Math.max(1, first.endsAtMs - Date.now()) };
      if (batch.length === 1) return [(await notifications.acceptNotification(first, within)).outcome];
      const { responses } = await notifications.batchAcceptNotifications({ requests: [...batch] }, within);
      return batch.map((_, index) => responses[index]?.outcome ?? 0);
    },
    { maxBatch: MAX_BATCH, lanes: LANES, isAboutOne, maxWaiting: MAX_WAITING, maxWaitMs: WITHIN.timeoutMs },
  );
  return (notification) =>
    gather.submit({ ...notification, traceParent: traceParent() ?? '', endsAtMs: Date.now() + WITHIN.timeoutMs });
}

/** Core rejects a whole batch when one notification in it is invalid; then each is sent alone. */
function isAboutOne(error: unknown): boolean {
  return isServiceError(error) && error.code === status.INVALID_ARGUMENT;
}

/** Senders such as the core's worker give up after 10 s; they get a 503 before. */
const WITHIN = { timeoutMs: 8_000 } as const;
/** At most 64 MiB of bodies; the sender of one more is answered 503. */
const MAX_WAITING = 1_000;
/** This many of the largest bodies fit into 1 MiB, core's limit for a message. */
const MAX_BATCH = 15;
/**
 * With one lane a call that hangs would block all others; with more than two, fewer are read and verified while others
 * are stored (measured: a seventh more per second than with four).
 */
const LANES = 2;
