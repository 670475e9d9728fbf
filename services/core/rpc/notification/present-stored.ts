import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  type StoredNotificationSchema,
  StoredNotificationState,
} from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import type { AcceptedRow } from '../../storage/notification/notification.ts';
import type { StoredRow } from '../../storage/notification/stored-notifications.ts';
import { notificationKindOf, presentFields } from '../present.ts';

/** An accepted notification as operators see it, and where it stands; never its body. */
export function presentStored(row: StoredRow): MessageInitShape<typeof StoredNotificationSchema> {
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
