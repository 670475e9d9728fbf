import { v7 as uuidv7 } from 'uuid';
import { audited } from '../../storage/audit-log/audit-log.ts';
import { endpointName } from '../../storage/endpoint/endpoint.ts';
import { releaseHeld } from '../../storage/notification/quarantined-notification.ts';
import type { Method } from '../core.ts';
import { decideQuarantined } from './quarantined.ts';

/** Forwards a quarantined notification, once. */
export const releaseQuarantinedNotification: Method<'releaseQuarantinedNotification'> = (core, { quarantineId }) =>
  decideQuarantined(core, quarantineId, 'RELEASED', async ({ id, merchantId }) => {
    const at = core.clock();
    const deliveryId = uuidv7();
    const action = { at, action: 'quarantine.release', target: id, detail: { deliveryId } };
    const released = await audited(core.database, action, (query) => releaseHeld(query, id, deliveryId, at));
    if (released) core.announce([endpointName({ merchantId, kind: 'internal' })]);
  });
