import type { MethodImpl } from '@connectrpc/connect';
import { type NotificationService, QuarantineReason } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { setAside } from '../../storage/quarantine.ts';
import type { NotificationCore } from './notification-core.ts';
import { notificationInput } from './notification-input.ts';

/** Sets aside what the relay has verified and must not accept. Its (merchantId, requestId) stays free. */
export function quarantineNotification(
  core: NotificationCore,
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
