import type { MethodImpl } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import type { NotificationService } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { audited } from '../../storage/audit-log/audit-log.ts';
import { releaseHeld } from '../../storage/notification/quarantined-notification.ts';
import type { Core } from '../core.ts';
import { decideQuarantined } from './decide-quarantined.ts';

/** Forwards a quarantined notification, once. */
export function releaseQuarantinedNotification(
  core: Core,
): MethodImpl<typeof NotificationService.method.releaseQuarantinedNotification> {
  return ({ quarantineId }) =>
    decideQuarantined(core, quarantineId, 'RELEASED', async ({ id, merchantId }) => {
      const at = core.clock();
      const deliveryId = uuidv7();
      const action = { at, action: 'quarantine.release', target: id, detail: { deliveryId } };
      const released = await audited(core.database, action, (query) => releaseHeld(query, id, deliveryId, at));
      if (released) void core.queue.trySet([{ id: deliveryId, endpoint: `${merchantId}/internal` }]);
    });
}
