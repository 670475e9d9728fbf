import { QuarantineReason } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { setAside } from '../../storage/notification/quarantined-notification.ts';
import type { Method } from '../core.ts';
import { notificationInput, reportAside } from '../notification/accept.ts';

/** Quarantines a verified notification that must not be accepted. Its (merchantId, requestId) stays free. */
export const quarantineNotification: Method<'quarantineNotification'> = async (core, request) => {
  const input = notificationInput(request, core.clock());
  const reason = request.reason === QuarantineReason.CONFLICT ? 'CONFLICT' : 'STATUS_INFO_CONTRADICTED';
  reportAside(core.log, await setAside(core.database.query, input, reason), reason, input);
  return {};
};
