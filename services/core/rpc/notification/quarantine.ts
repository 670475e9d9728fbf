import type { MethodImpl } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import { type NotificationService, QuarantineState } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { HoldfastError } from '../../domain/refusal.ts';
import { audited } from '../../storage/audit-log.ts';
import { discardHeld, type NotificationKey, readAccepted, releaseHeld } from '../../storage/quarantine.ts';
import {
  QuarantinedNotificationEntity,
  type QuarantinedNotificationRow,
} from '../../storage/quarantined-notification.ts';
import { isUuid } from '../ids.ts';
import { cutPage, pageKey, pageSizeOf, pageToken } from '../pages.ts';
import { refusalOf } from '../refuse.ts';
import type { NotificationCore } from './notification-core.ts';
import { presentQuarantined } from './present-notification.ts';

/** Lists what was set aside, newest first. */
export function listQuarantinedNotifications(
  core: NotificationCore,
): MethodImpl<typeof NotificationService.method.listQuarantinedNotifications> {
  return async (request) => {
    const { merchantId, state } = request;
    const filters = {
      ...(merchantId !== '' && { merchantId }),
      ...(state !== QuarantineState.UNSPECIFIED && {
        state: QuarantineState[state] as QuarantinedNotificationRow['state'],
      }),
    };
    const after = pageKey(request.pageToken, filters, isUuid);
    const size = pageSizeOf(request);
    const rows = await core.database.orm.em
      .fork()
      .find(
        QuarantinedNotificationEntity,
        { ...filters, ...(after !== undefined && { id: { $lt: after } }) },
        { orderBy: { id: 'desc' }, limit: size + 1, exclude: ['body'] },
      );
    const { page, nextPageToken } = cutPage(rows as QuarantinedNotificationRow[], size, (last) =>
      pageToken(last.id, filters),
    );
    return { notifications: await present(core, page), nextPageToken };
  };
}

/** Forwards what was set aside, once: releasing it again changes nothing. */
export function releaseQuarantinedNotification(
  core: NotificationCore,
): MethodImpl<typeof NotificationService.method.releaseQuarantinedNotification> {
  return async ({ quarantineId }) => {
    const row = await read(core, quarantineId);
    if (row.state === 'HELD') await release(core, row);
    const now = await read(core, quarantineId);
    if (now.state !== 'RELEASED') refuse(now);
    const [notification] = await present(core, [now]);
    return { notification };
  };
}

/** Decides that what was set aside is never forwarded: discarding it again changes nothing. */
export function discardQuarantinedNotification(
  core: NotificationCore,
): MethodImpl<typeof NotificationService.method.discardQuarantinedNotification> {
  return async ({ quarantineId }) => {
    const row = await read(core, quarantineId);
    const at = core.clock();
    if (row.state === 'HELD') {
      const action = { at, action: 'quarantine.discard', target: quarantineId };
      await audited(core.database, action, (query) => discardHeld(query, quarantineId, at));
    }
    const now = await read(core, quarantineId);
    if (now.state !== 'DISCARDED') refuse(now);
    const [notification] = await present(core, [now]);
    return { notification };
  };
}

/** Adds to each what was accepted under its name, in one query. */
async function present(core: NotificationCore, rows: readonly QuarantinedNotificationRow[]) {
  const nameOf = ({ merchantId, requestId }: NotificationKey) => `${merchantId} ${requestId}`;
  const accepted = rows.length === 0 ? [] : await readAccepted(core.database.query, rows);
  const byName = new Map(accepted.map((each) => [nameOf(each), each]));
  return rows.map((row) => presentQuarantined(row, byName.get(nameOf(row))));
}

async function release(core: NotificationCore, { id, merchantId }: QuarantinedNotificationRow): Promise<void> {
  const at = core.clock();
  const deliveryId = uuidv7();
  const action = { at, action: 'quarantine.release', target: id, detail: { deliveryId } };
  const released = await audited(core.database, action, (query) => releaseHeld(query, id, deliveryId, at));
  if (released) void core.queue.ring([{ id: deliveryId, endpoint: `${merchantId}/internal` }]);
}

function refuse(row: QuarantinedNotificationRow): never {
  const reason = {
    HELD: 'it cannot be forwarded: the merchant has no internalUrl, or the body was purged',
    RELEASED: 'it was released before',
    DISCARDED: 'it was discarded before',
  }[row.state];
  throw new HoldfastError('INVALID_REQUEST', reason);
}

async function read(core: NotificationCore, id: string): Promise<QuarantinedNotificationRow> {
  const row = isUuid(id) && (await core.database.orm.em.fork().findOne(QuarantinedNotificationEntity, { id }));
  if (!row) throw refusalOf('OPERATION_NOT_FOUND');
  return row;
}
