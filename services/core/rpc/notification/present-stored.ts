import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  type StoredNotificationSchema,
  StoredNotificationState,
} from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import type { AcceptedRow } from '../../storage/notification/notification.ts';
import type { StoredRow } from '../../storage/notification/stored-notifications.ts';
import { notificationKindOf } from '../kinds.ts';

/** An accepted notification as operators see it, and where it stands; never its body. */
export function presentStored(row: StoredRow): MessageInitShape<typeof StoredNotificationSchema> {
  const forwarding =
    row.deliveryId === null ? StoredNotificationState.NOT_FORWARDED : StoredNotificationState.FORWARDED;
  const state = row.parked ? StoredNotificationState.PARKED : forwarding;
  return { ...presentAccepted(row), state, deliveryId: row.deliveryId ?? '' };
}

/** An accepted notification as it was signed. */
export function presentAccepted(row: AcceptedRow): MessageInitShape<typeof StoredNotificationSchema> {
  const { merchantId, requestId, statusInfo, status, amount, currency } = row;
  const kind = notificationKindOf(row.kind);
  return {
    merchantId,
    requestId,
    kind,
    statusInfo,
    status,
    amount,
    currency,
    receivedAt: timestampFromDate(row.receivedAt),
  };
}
