import type { MethodImpl } from '@connectrpc/connect';
import { AcceptOutcome, type NotificationService } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import type { NotificationCore } from './notification-core.ts';
import { notificationInput } from './notification-input.ts';

/** Stores what the relay has verified, and has it forwarded. Nothing of it touches a hold, a capture or an OCT. */
export function acceptNotification(
  core: NotificationCore,
): MethodImpl<typeof NotificationService.method.acceptNotification> {
  return async (request) => {
    const input = notificationInput(request, core.clock());
    const { merchantId, requestId, deliveryId } = input;
    const { outcome, forwards, isNewConflict } = await core.accepting.submit(input);
    if (forwards) void core.queue.ring([{ id: deliveryId, endpoint: `${merchantId}/internal` }]);
    if (isNewConflict) core.log.warn({ event: 'notification_quarantined', reason: 'CONFLICT', merchantId, requestId });
    return { outcome: AcceptOutcome[outcome] };
  };
}
