import type { MethodImpl } from '@connectrpc/connect';
import {
  type AcceptNotificationRequest,
  AcceptOutcome,
  type NotificationService,
} from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { errorFields } from '../../../../proto/log.ts';
import type { NotificationCore } from './notification-core.ts';
import { notificationInput } from './notification-input.ts';

/** Stores what the relay has verified, and has it forwarded. Nothing of it touches a hold, a capture or an OCT. */
export function acceptNotification(
  core: NotificationCore,
): MethodImpl<typeof NotificationService.method.acceptNotification> {
  return async (request) => ({ outcome: await accept(core, request) });
}

/** The same for several. Rejects when none of them could be stored. */
export function batchAcceptNotifications(
  core: NotificationCore,
): MethodImpl<typeof NotificationService.method.batchAcceptNotifications> {
  return async ({ requests }) => {
    const ends = await Promise.allSettled(requests.map((request) => accept(core, request)));
    const [failure, ...others] = ends.filter((end) => end.status === 'rejected');
    if (failure && others.length === ends.length - 1) throw failure.reason;
    if (failure) core.log.error('notifications_not_stored', { ...errorFields(failure.reason) });
    return {
      responses: ends.map((end) => ({ outcome: end.status === 'fulfilled' ? end.value : AcceptOutcome.UNSPECIFIED })),
    };
  };
}

async function accept(core: NotificationCore, request: AcceptNotificationRequest): Promise<AcceptOutcome> {
  const input = notificationInput(request, core.clock());
  const { merchantId, requestId, deliveryId } = input;
  const { outcome, forwards, isNewConflict } = await core.accepting.submit(input);
  if (forwards) void core.queue.ring([{ id: deliveryId, endpoint: `${merchantId}/internal` }]);
  if (isNewConflict) core.log.warn('notification_quarantined', { reason: 'CONFLICT', merchantId, requestId });
  return AcceptOutcome[outcome];
}
