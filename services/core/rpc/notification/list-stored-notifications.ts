import { StoredNotificationState } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import {
  listStored,
  readStored,
  type StoredFilter,
  type StoredRow,
} from '../../storage/notification/stored-notifications.ts';
import type { Method } from '../core.ts';
import { readPage } from '../pages.ts';
import { invalidField } from '../refuse.ts';
import { presentStored } from './present-stored.ts';

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
  const { page, nextPageToken } = await readPage(
    request,
    filters,
    { isKey, keyOf },
    {
      read: (after, limit) =>
        listStored(query, { ...filters, merchantId: merchantId || null, after: afterOf(after) }, limit),
      present: presentStored,
    },
  );
  return { notifications: page, nextPageToken };
};

/** The key of a page token: the time of receipt, then the name. None of them contains a space. */
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
