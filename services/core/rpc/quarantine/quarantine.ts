import { timestampDate } from '@bufbuild/protobuf/wkt';
import { drawId } from '../../../../platform/draw-id.ts';
import {
  QuarantinedNotificationSchema,
  QuarantineReason,
  StoredNotificationSchema,
} from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { HoldfastError } from '../../domain/refusal.ts';
import { audited } from '../../storage/audit-log/audit-log.ts';
import { endpointName } from '../../storage/endpoint/endpoint-row.ts';
import type { NotificationKey } from '../../storage/notification/accepted-row.ts';
import {
  type DiscardFilter,
  discardHeld,
  discardMatching,
  findQuarantined,
  listQuarantined,
  type QuarantinedHead,
  type QuarantineFilter,
  readAccepted,
  releaseHeld,
  setAside,
} from '../../storage/notification/quarantined-notification.ts';
import type { Core, Method } from '../core.ts';
import { isUuid } from '../ids.ts';
import { notificationInput, reportAside } from '../notification/accept-notifications.ts';
import { BY_ID, filtersOf, readPage } from '../pages.ts';
import { present } from '../present.ts';
import { noSuch } from '../refuse.ts';

/** Quarantines a verified notification that must not be accepted. Its (merchantId, requestId) stays free. */
export const quarantineNotification: Method<'quarantineNotification'> = async (core, request) => {
  const input = notificationInput(request, core.clock());
  const reason = request.reason === QuarantineReason.CONFLICT ? 'CONFLICT' : 'STATUS_INFO_CONTRADICTED';
  reportAside(core.log, await setAside(core.database.query, input, reason), reason, input);
  return {};
};

/** Lists quarantined notifications, newest first. */
export const listQuarantinedNotifications: Method<'listQuarantinedNotifications'> = (core, request, context) =>
  readPage('notifications', request, filtersOf<QuarantineFilter>(context, request), BY_ID, {
    read: async (filters, after, limit) => {
      const { rows, scannedTo } = await listQuarantined(core.reads, filters, after, limit);
      return { rows: await withAccepted(core, rows), scannedTo };
    },
    present: presentQuarantined,
  });

/** Forwards a quarantined notification, once. */
export const releaseQuarantinedNotification: Method<'releaseQuarantinedNotification'> = (core, { quarantineId }) =>
  decideQuarantined(core, quarantineId, 'RELEASED', async ({ id }) => {
    const at = core.clock();
    const deliveryId = drawId();
    const action = { at, action: 'quarantine.release', target: id, detail: { deliveryId } };
    const endpoints = await audited(core.database, action, async (query) => {
      const released = await releaseHeld(query, id, deliveryId, at);
      return released.length > 0 && released;
    });
    if (endpoints) core.announce(endpoints.map(endpointName));
  });

/** Decides that a quarantined notification is never forwarded. */
export const discardQuarantinedNotification: Method<'discardQuarantinedNotification'> = (core, { quarantineId }) =>
  decideQuarantined(core, quarantineId, 'DISCARDED', ({ id }) => {
    const at = core.clock();
    const action = { at, action: 'quarantine.discard', target: id };
    return audited(core.database, action, (query) => discardHeld(query, id, at));
  });

/** Discards a merchant's quarantined notifications that match: 1 000 at a time, oldest first. */
export const discardQuarantinedNotifications: Method<'discardQuarantinedNotifications'> = async (core, request) => {
  const { merchantId, reason, receivedFrom, receivedTo } = request;
  const filter: DiscardFilter = {
    merchantId,
    reason: reason ? (QuarantineReason[reason] as DiscardFilter['reason']) : null,
    receivedFrom: receivedFrom ? timestampDate(receivedFrom) : null,
    receivedTo: receivedTo ? timestampDate(receivedTo) : null,
  };
  const at = core.clock();
  const detail: Record<string, unknown> = { ...filter };
  const action = { at, action: 'quarantine.discard-matching', target: merchantId, detail };
  const discarded = await audited(core.database, action, async (query) => {
    detail.count = await discardMatching(query, filter, AT_ONCE, at);
    return detail.count;
  });
  return { discardedCount: Number(discarded), more: discarded === AT_ONCE };
};

const AT_ONCE = 1_000;

/**
 * Decides about a quarantined notification; repeating a decision changes nothing. `decide` is called while it is held.
 * Throws OPERATION_NOT_FOUND, and INVALID_REQUEST when the decision was another one or cannot be carried out.
 */
async function decideQuarantined(
  core: Core,
  quarantineId: string,
  decision: 'RELEASED' | 'DISCARDED',
  decide: (row: QuarantinedHead) => Promise<unknown>,
) {
  const row = await find(core, quarantineId);
  if (row.state === 'HELD') await decide(row);
  const decided = await find(core, quarantineId);
  if (decided.state !== decision) throw new HoldfastError('INVALID_REQUEST', WHY_NOT[decided.state]);
  return { notification: (await withAccepted(core, [decided])).map(presentQuarantined)[0] };
}

const WHY_NOT = {
  HELD: 'it cannot be forwarded: the merchant has no internal endpoint that asks for it, or the body was purged',
  RELEASED: 'it was released before',
  DISCARDED: 'it was discarded before',
};

async function find(core: Core, id: string): Promise<QuarantinedHead> {
  const row = isUuid(id) ? await findQuarantined(core.database, id) : undefined;
  if (!row) throw noSuch('notification');
  return row;
}

/** Quarantined notifications, each with the accepted one of its name. */
async function withAccepted(core: Core, rows: readonly QuarantinedHead[]) {
  const nameOf = ({ merchantId, requestId }: NotificationKey) => `${merchantId} ${requestId}`;
  const accepted = rows.length === 0 ? [] : await readAccepted(core.database.query, rows);
  const byName = new Map(accepted.map((row) => [nameOf(row), present(StoredNotificationSchema, row)]));
  return rows.map((row) => ({ ...row, accepted: byName.get(nameOf(row)) }));
}

/** A quarantined notification as operators see it; never a body or a signature. */
function presentQuarantined(row: Awaited<ReturnType<typeof withAccepted>>[number]) {
  return present(QuarantinedNotificationSchema, row, { quarantineId: row.id });
}
