import { type AcceptNotificationRequest, AcceptOutcome } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { type Accepted, acceptNotifications } from '../../storage/notification/accept-notifications.ts';
import type { NotificationInput } from '../../storage/notification/notification.ts';
import { StatementGather } from '../../storage/statement-gather.ts';
import type { Core } from '../core.ts';
import { notificationInput } from './notification-input.ts';

/** Stores one verified notification and has it forwarded. */
export type Accept = (request: AcceptNotificationRequest) => Promise<AcceptOutcome>;

/** Opens the way in for verified notifications. Concurrent ones share commits; two with one name never share a statement. */
export function openAccept(core: Core): Accept {
  const gather = new StatementGather<NotificationInput, Accepted>(
    (batch) => acceptNotifications(core.database.query, batch),
    { maxBatch: 256, lanes: 2, keyOf: ({ merchantId, requestId }) => `${merchantId} ${requestId}` },
  );
  return async (request) => {
    const input = notificationInput(request, core.clock());
    const { merchantId, requestId, deliveryId } = input;
    const { outcome, forwards, isNewConflict } = await gather.submit(input);
    if (forwards) void core.queue.trySet([{ id: deliveryId, endpoint: `${merchantId}/internal` }]);
    if (isNewConflict) core.log.warn('notification_quarantined', { reason: 'CONFLICT', merchantId, requestId });
    return AcceptOutcome[outcome];
  };
}
