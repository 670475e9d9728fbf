import type { MethodImpl } from '@connectrpc/connect';
import type { NotificationService } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { audited } from '../../storage/audit-log/audit-log.ts';
import { discardHeld } from '../../storage/notification/quarantined-notification.ts';
import type { Core } from '../core.ts';
import { decideQuarantined } from './decide-quarantined.ts';

/** Decides that a quarantined notification is never forwarded. */
export function discardQuarantinedNotification(
  core: Core,
): MethodImpl<typeof NotificationService.method.discardQuarantinedNotification> {
  return ({ quarantineId }) =>
    decideQuarantined(core, quarantineId, 'DISCARDED', ({ id }) => {
      const at = core.clock();
      const action = { at, action: 'quarantine.discard', target: id };
      return audited(core.database, action, (query) => discardHeld(query, id, at));
    });
}
