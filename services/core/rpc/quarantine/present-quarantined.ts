import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  type QuarantinedNotificationSchema,
  QuarantineReason,
  QuarantineState,
} from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import type { AcceptedRow, NotificationKey } from '../../storage/notification/notification.ts';
import { type QuarantinedHead, readAccepted } from '../../storage/notification/quarantined-notification.ts';
import type { Core } from '../core.ts';
import { notificationKindOf } from '../kinds.ts';
import { presentAccepted } from '../notification/present-stored.ts';

/** Quarantined notifications as operators see them, each with the notification that was accepted under the same name. */
export async function presentQuarantined(core: Core, rows: readonly QuarantinedHead[]) {
  const nameOf = ({ merchantId, requestId }: NotificationKey) => `${merchantId} ${requestId}`;
  const accepted = rows.length === 0 ? [] : await readAccepted(core.database.query, rows);
  const byName = new Map(accepted.map((each) => [nameOf(each), each]));
  return rows.map((row) => present(row, byName.get(nameOf(row))));
}

/** Never a body or a signature. */
function present(
  row: QuarantinedHead,
  accepted: AcceptedRow | undefined,
): MessageInitShape<typeof QuarantinedNotificationSchema> {
  return {
    quarantineId: row.id,
    merchantId: row.merchantId,
    requestId: row.requestId,
    kind: notificationKindOf(row.kind),
    statusInfo: row.statusInfo,
    status: row.status,
    amount: row.amount,
    currency: row.currency,
    reason: QuarantineReason[row.reason],
    state: QuarantineState[row.state],
    receivedAt: timestampFromDate(row.receivedAt),
    ...(row.decidedAt && { decidedAt: timestampFromDate(row.decidedAt) }),
    deliveryId: row.deliveryId ?? '',
    ...(accepted && { accepted: presentAccepted(accepted) }),
  };
}
