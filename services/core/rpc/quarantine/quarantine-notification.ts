import { QuarantineReason } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { setAside } from '../../storage/notification/quarantined-notification.ts';
import type { Method } from '../core.ts';
import { notificationInput } from '../notification/accept.ts';

/** Quarantines a verified notification that must not be accepted. Its (merchantId, requestId) stays free. */
export const quarantineNotification: Method<'quarantineNotification'> = async (core, request) => {
  const input = notificationInput(request, core.clock());
  const { merchantId, requestId } = input;
  const reason = request.reason === QuarantineReason.CONFLICT ? 'CONFLICT' : 'STATUS_INFO_CONTRADICTED';
  if (await setAside(core.database.query, input, reason)) {
    core.log.warn('notification_quarantined', { reason, merchantId, requestId });
  }
  return {};
};
