import { drawId } from '../../../../platform/draw-id.ts';
import { errorFields, type Log } from '../../../../platform/log.ts';
import { traceParent } from '../../../../platform/tracing.ts';
import {
  type AcceptNotificationRequest,
  AcceptOutcome,
  type QuarantineNotificationRequest,
} from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { HoldfastError } from '../../domain/refusal.ts';
import type { Announce } from '../../storage/announce.ts';
import type { Database } from '../../storage/database.ts';
import { endpointName } from '../../storage/endpoint/endpoint-row.ts';
import type { NotificationInput, NotificationKey } from '../../storage/notification/accepted-row.ts';
import { type Accepted, acceptNotifications } from '../../storage/notification/insert-accepted.ts';
import type { Aside } from '../../storage/notification/quarantined-notification.ts';
import { StatementGather } from '../../storage/statement-gather.ts';
import type { Core, Method } from '../core.ts';
import { keptNotificationKind } from '../present.ts';

/** Stores a notification that the relay has verified, and has it forwarded. It never changes the books. */
export const acceptNotification: Method<'acceptNotification'> = async (core, request) => ({
  outcome: await core.accept(notificationInput(request, core.clock())),
});

/** Accepts several notifications; UNSPECIFIED = one could not be stored. Throws when none could be stored. */
export const batchAcceptNotifications: Method<'batchAcceptNotifications'> = async (core, { requests }) => {
  const { accept, clock, log } = core;
  const ends = await Promise.allSettled(requests.map((request) => accept(notificationInput(request, clock()))));
  const [failure, ...others] = ends.filter((end) => end.status === 'rejected');
  if (failure && others.length === ends.length - 1) throw failure.reason;
  if (failure) log.error('notifications_not_stored', { ...errorFields(failure.reason) });
  return {
    responses: ends.map((end) => ({ outcome: end.status === 'fulfilled' ? end.value : AcceptOutcome.UNSPECIFIED })),
  };
};

/** Stores verified notifications. Concurrent ones share commits, but never two of one (merchantId, requestId). */
export function openAccept(database: Database, announce: Announce, log: Log): Core['accept'] {
  const gather = new StatementGather<NotificationInput, Accepted>(
    (batch) => acceptNotifications(database.query, batch),
    { maxBatch: 256, lanes: 2, keyOf: ({ merchantId, requestId }) => `${merchantId} ${requestId}` },
  );
  return async (input) => {
    const { outcome, forwards, aside } = await gather.submit(input);
    const { merchantId } = input;
    // Streams are woken by what is forwarded to nobody, too.
    if (outcome === 'STORED') announce(forwards.map((endpointId) => endpointName({ merchantId, endpointId })));
    if (aside) reportAside(log, aside, 'CONFLICT', input);
    return AcceptOutcome[outcome];
  };
}

/** Logs quarantined notifications. Throws UNAVAILABLE when one could not be stored, so that the sender keeps it. */
export function reportAside(log: Log, aside: Aside, reason: string, { merchantId, requestId }: NotificationKey): void {
  if (aside === 'STORED') log.warn('notification_quarantined', { reason, merchantId, requestId });
  if (aside !== 'FULL') return;
  log.warn('quarantine_full', { reason, merchantId, requestId });
  throw new HoldfastError('UNAVAILABLE', 'too many notifications of the merchant wait in quarantine for a decision');
}

/** Converts a verified notification of the contract to what storage takes. */
export function notificationInput(
  request: AcceptNotificationRequest | QuarantineNotificationRequest,
  at: Date,
): NotificationInput {
  const { merchantId, requestId, statusInfo, status, amount, currency, signature, body } = request;
  return {
    merchantId,
    requestId,
    kind: keptNotificationKind(request.kind),
    statusInfo,
    status,
    amount,
    currency,
    body,
    signature,
    deliveryId: drawId(),
    receivedAt: at.toISOString(),
    identifier: null,
    digest: null,
    relayedHeaders: null,
    forward: true,
    traceParent: ('traceParent' in request && request.traceParent) || traceParent(),
  };
}
