import { drawId } from '../../../../platform/draw-id.ts';
import {
  StoredNotificationSchema,
  StoredNotificationState,
} from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { HoldfastError } from '../../domain/refusal.ts';
import { audited } from '../../storage/audit-log/audit-log.ts';
import { endpointName } from '../../storage/endpoint/endpoint-row.ts';
import {
  listStored,
  type Replay,
  readStored,
  replayStored,
  type StoredFilter,
  type StoredRow,
} from '../../storage/notification/stored-rows.ts';
import type { Method } from '../core.ts';
import { readPage } from '../pages.ts';
import { present } from '../present.ts';
import { invalidField, noSuch } from '../refuse.ts';

/** Lists accepted notifications that are not purged, newest first; with a requestId only that one, purged or not. */
export const listStoredNotifications: Method<'listStoredNotifications'> = async (core, request) => {
  const { query } = core.reads;
  const { merchantId, requestId, state } = request;
  if (requestId !== '') {
    if (merchantId === '') throw invalidField('merchant_id', 'is needed beside request_id');
    const one = await readStored(query, { merchantId, requestId });
    const matches = one && (state === StoredNotificationState.UNSPECIFIED || one.parked);
    return { notifications: matches ? [presentStored(one)] : [], nextPageToken: '' };
  }
  const filters = { merchantId, parkedOnly: state === StoredNotificationState.PARKED };
  return readPage('notifications', request, filters, BY_RECEIPT, {
    read: (_, after, limit) =>
      listStored(query, { ...filters, merchantId: merchantId || null, after: afterOf(after) }, limit),
    present: presentStored,
  });
};

/** The key of a page token: the time of receipt, then the name. None of them contains a space. */
const BY_RECEIPT = {
  isKey: (text: string) => !Number.isNaN(Date.parse(KEY.exec(text)?.[1] ?? '')),
  keyOf: ({ receivedAt, merchantId, requestId }: StoredRow) => `${receivedAt.toISOString()} ${merchantId} ${requestId}`,
};

const KEY = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([A-Za-z0-9_-]{1,32}) ([A-Za-z0-9._:-]{1,64})$/;

function afterOf(key: string | undefined): StoredFilter['after'] {
  const [, receivedAt = '', merchantId = '', requestId = ''] = KEY.exec(key ?? '') ?? [];
  return key === undefined ? undefined : { receivedAt: new Date(receivedAt), merchantId, requestId };
}

/** Forwards a stored notification, possibly once more. */
export const replayStoredNotification: Method<'replayStoredNotification'> = async (core, { merchantId, requestId }) => {
  const key = { merchantId, requestId };
  const { query } = core.database;
  if (!(await readStored(query, key))) throw noSuch('notification');
  const at = core.clock();
  const action = { at, action: 'notification.replay', target: `${merchantId}/${requestId}` };
  const endpoints = await audited(core.database, action, async (inTransaction) => {
    return demandDelivery(await replayStored(inTransaction, key, drawId(), at));
  });
  core.announce(endpoints.map(endpointName));
  const now = await readStored(query, key);
  return now ? { notification: presentStored(now) } : {};
};

function demandDelivery(replay: Replay) {
  if (replay === 'PURGED') throw new HoldfastError('INVALID_REQUEST', 'the body of the notification was purged');
  if (replay === 'NO_ENDPOINT')
    throw new HoldfastError('INVALID_REQUEST', 'the merchant has no internal endpoint that asks for it');
  return replay;
}

/** An accepted notification as operators see it, and where it stands; never its body. */
function presentStored(row: StoredRow) {
  const forwarding = row.deliveryId === null ? 'NOT_FORWARDED' : 'FORWARDED';
  return present(StoredNotificationSchema, row, { state: row.parked ? 'PARKED' : forwarding });
}
