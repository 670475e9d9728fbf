import type { MethodImpl } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import {
  type NotificationService,
  StoredNotificationState,
} from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { signNotification } from '../../../../proto/signature.ts';
import { HoldfastError } from '../../domain/refusal.ts';
import { audited } from '../../storage/audit-log.ts';
import { endpointName } from '../../storage/endpoint.ts';
import { readTerms } from '../../storage/endpoint-terms.ts';
import {
  listStored,
  type Replay,
  readStored,
  replayStored,
  type StoredFilter,
  type StoredRow,
} from '../../storage/stored-notifications.ts';
import { cutPage, pageKey, pageSizeOf, pageToken } from '../pages.ts';
import { invalidField, refusalOf } from '../refuse.ts';
import type { NotificationCore } from './notification-core.ts';
import { presentStored } from './present-notification.ts';

/** Lists notifications that the relay has accepted, newest first; with a requestId just that one, purged or not. */
export function listStoredNotifications(
  core: NotificationCore,
): MethodImpl<typeof NotificationService.method.listStoredNotifications> {
  const { query } = core.database;
  return async (request) => {
    const { merchantId, requestId, state } = request;
    if (requestId !== '') {
      if (merchantId === '') throw invalidField('merchant_id', 'is needed beside request_id');
      const one = await readStored(query, { merchantId, requestId });
      const matches = one && (state === StoredNotificationState.UNSPECIFIED || one.parked);
      return { notifications: matches ? [presentStored(one)] : [], nextPageToken: '' };
    }
    const filters = { merchantId, parkedOnly: state === StoredNotificationState.PARKED };
    const after = afterOf(pageKey(request.pageToken, filters, isKey));
    const size = pageSizeOf(request);
    const rows = await listStored(query, { ...filters, merchantId: merchantId || null, after }, size + 1);
    const { page, nextPageToken } = cutPage(rows, size, (last) => pageToken(keyOf(last), filters));
    return { notifications: page.map(presentStored), nextPageToken };
  };
}

/** Forwards a stored notification, again if it was forwarded before. */
export function replayStoredNotification(
  core: NotificationCore,
): MethodImpl<typeof NotificationService.method.replayStoredNotification> {
  return async ({ merchantId, requestId }) => {
    const key = { merchantId, requestId };
    const { query } = core.database;
    const stored = await readStored(query, key);
    if (!stored) throw refusalOf('OPERATION_NOT_FOUND');
    const at = core.clock();
    const action = { at, action: 'notification.replay', target: `${merchantId}/${requestId}` };
    const due = await audited(core.database, action, async (inTransaction) => {
      const parts = { deliveryId: uuidv7(), at, sign: () => sign(core, stored) };
      return demandDelivery(await replayStored(inTransaction, key, parts));
    });
    await core.queue.move(due.id, 0);
    void core.queue.ring([{ id: due.id, endpoint: endpointName(due) }]);
    const now = await readStored(query, key);
    return now ? { notification: presentStored(now) } : {};
  };
}

/** The signature that the sender must have made, by the secret that is in use. Errors: INVALID_REQUEST when there is none. */
async function sign(core: NotificationCore, stored: StoredRow): Promise<string> {
  const terms = await readTerms(core.database.query, core.cipher, [stored.merchantId]);
  const [older] = terms.get(stored.merchantId)?.secrets ?? [];
  if (older === undefined) throw new HoldfastError('INVALID_REQUEST', 'the merchant has no live signing secret');
  return signNotification(older, stored);
}

function demandDelivery(replay: Replay) {
  if (replay === 'PURGED') throw new HoldfastError('INVALID_REQUEST', 'the body of the notification was purged');
  if (replay === 'NO_ENDPOINT') throw new HoldfastError('INVALID_REQUEST', 'the merchant has no internalUrl');
  return replay;
}

/** A key of a page token: when it was received, then its name; none of them has a space. */
function keyOf({ receivedAt, merchantId, requestId }: StoredRow): string {
  return `${receivedAt.toISOString()} ${merchantId} ${requestId}`;
}

const KEY = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([A-Za-z0-9_-]{1,32}) ([A-Za-z0-9._:-]{1,64})$/;

function isKey(text: string): boolean {
  return !Number.isNaN(Date.parse(KEY.exec(text)?.[1] ?? ''));
}

function afterOf(key: string | undefined): StoredFilter['after'] {
  const [, receivedAt = '', merchantId = '', requestId = ''] = KEY.exec(key ?? '') ?? [];
  return key === undefined ? undefined : { receivedAt: new Date(receivedAt), merchantId, requestId };
}
