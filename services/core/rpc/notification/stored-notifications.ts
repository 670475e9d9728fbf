import type { MessageInitShape } from '@bufbuild/protobuf';
import { v7 as uuidv7 } from 'uuid';
import { signNotification } from '../../../../client/webhooks/signature.ts';
import {
  type StoredNotificationSchema,
  StoredNotificationState,
} from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { HoldfastError } from '../../domain/refusal.ts';
import { audited } from '../../storage/audit-log/audit-log.ts';
import { endpointName } from '../../storage/endpoint/endpoint.ts';
import { readEndpointTerms } from '../../storage/endpoint/endpoint-terms.ts';
import type { AcceptedRow } from '../../storage/notification/notification.ts';
import {
  listStored,
  type Replay,
  readStored,
  replayStored,
  type StoredFilter,
  type StoredRow,
} from '../../storage/notification/stored-notifications.ts';
import type { Core, Method } from '../core.ts';
import { readPage } from '../pages.ts';
import { notificationKindOf, presentFields } from '../present.ts';
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

/** Forwards a stored notification, also one that was forwarded before. */
export const replayStoredNotification: Method<'replayStoredNotification'> = async (core, { merchantId, requestId }) => {
  const key = { merchantId, requestId };
  const { query } = core.database;
  const stored = await readStored(query, key);
  if (!stored) throw noSuch('notification');
  const at = core.clock();
  const action = { at, action: 'notification.replay', target: `${merchantId}/${requestId}` };
  const endpoint = await audited(core.database, action, async (inTransaction) => {
    const parts = { deliveryId: uuidv7(), at, sign: () => sign(core, stored) };
    return demandDelivery(await replayStored(inTransaction, key, parts));
  });
  core.announce([endpointName(endpoint)]);
  const now = await readStored(query, key);
  return now ? { notification: presentStored(now) } : {};
};

/** The signature of the sender, made with the secret in use. Throws INVALID_REQUEST when there is none. */
async function sign(core: Core, stored: StoredRow): Promise<string> {
  const terms = await readEndpointTerms(core.database.query, core.cipher, [stored.merchantId]);
  const [older] = terms.get(stored.merchantId)?.secrets ?? [];
  if (older === undefined) throw new HoldfastError('INVALID_REQUEST', 'the merchant has no live signing secret');
  return signNotification(older, stored);
}

function demandDelivery(replay: Replay) {
  if (replay === 'PURGED') throw new HoldfastError('INVALID_REQUEST', 'the body of the notification was purged');
  if (replay === 'NO_ENDPOINT') throw new HoldfastError('INVALID_REQUEST', 'the merchant has no internalUrl');
  return replay;
}

/** An accepted notification as operators see it, and where it stands; never its body. */
function presentStored(row: StoredRow): MessageInitShape<typeof StoredNotificationSchema> {
  const forwarding =
    row.deliveryId === null ? StoredNotificationState.NOT_FORWARDED : StoredNotificationState.FORWARDED;
  const state = row.parked ? StoredNotificationState.PARKED : forwarding;
  return { ...presentAccepted(row), state, deliveryId: row.deliveryId ?? '' };
}

/** An accepted notification as it was signed. */
export function presentAccepted(row: AcceptedRow): MessageInitShape<typeof StoredNotificationSchema> {
  return {
    ...presentFields(row, 'merchantId', 'requestId', 'statusInfo', 'status', 'amount', 'currency', 'receivedAt'),
    kind: notificationKindOf(row.kind),
  };
}
