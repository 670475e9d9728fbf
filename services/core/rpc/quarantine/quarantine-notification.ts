import type { MethodImpl } from '@connectrpc/connect';
import { type NotificationService, QuarantineReason } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { setAside } from '../../storage/notification/quarantined-notification.ts';
import type { Core } from '../core.ts';
import { notificationInput } from '../notification/notification-input.ts';

/** Quarantines a verified notification that must not be accepted. Its (merchantId, requestId) stays free. */
export function quarantineNotification(
  core: Core,
): MethodImpl<typeof NotificationService.method.quarantineNotification> {
  return async (request) => {
    const input = notificationInput(request, core.clock());
    const { merchantId, requestId } = input;
    const reason = request.reason === QuarantineReason.CONFLICT ? 'CONFLICT' : 'STATUS_INFO_CONTRADICTED';
    if (await setAside(core.database.query, input, reason)) {
      core.log.warn('notification_quarantined', { reason, merchantId, requestId });
    }
    return {};
  };
}
