import { audited } from '../../storage/audit-log/audit-log.ts';
import { discardHeld } from '../../storage/notification/quarantined-notification.ts';
import type { Method } from '../core.ts';
import { decideQuarantined } from './quarantined.ts';

/** Decides that a quarantined notification is never forwarded. */
export const discardQuarantinedNotification: Method<'discardQuarantinedNotification'> = (core, { quarantineId }) =>
  decideQuarantined(core, quarantineId, 'DISCARDED', ({ id }) => {
    const at = core.clock();
    const action = { at, action: 'quarantine.discard', target: id };
    return audited(core.database, action, (query) => discardHeld(query, id, at));
  });
