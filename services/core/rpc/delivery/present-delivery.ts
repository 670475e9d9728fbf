import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  type DeliveryAttemptSchema,
  type DeliverySchema,
  DeliveryState,
} from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import type { DeliveryAttemptRow } from '../../storage/delivery/delivery.ts';
import type { DeliveryHead } from '../../storage/delivery/read-deliveries.ts';
import { endpointKindOf, notificationKindOf } from '../kinds.ts';

/** A delivery as operators see it; never its body. */
export function presentDelivery(
  row: DeliveryHead,
  attempts: readonly DeliveryAttemptRow[] = [],
): MessageInitShape<typeof DeliverySchema> {
  return {
    deliveryId: row.id,
    merchantId: row.merchantId,
    endpointKind: endpointKindOf(row.endpointKind),
    requestId: row.requestId,
    kind: notificationKindOf(row.kind),
    statusInfo: row.statusInfo,
    state: DeliveryState[row.state],
    attemptCount: row.attemptCount,
    ...(row.dueAt && { dueAt: timestampFromDate(row.dueAt) }),
    createdAt: timestampFromDate(row.createdAt),
    ...(row.deliveredAt && { deliveredAt: timestampFromDate(row.deliveredAt) }),
    attempts: attempts.map(presentAttempt),
  };
}

function presentAttempt(row: DeliveryAttemptRow): MessageInitShape<typeof DeliveryAttemptSchema> {
  return {
    number: row.number,
    startedAt: timestampFromDate(row.startedAt),
    latencyMs: row.latencyMs,
    httpStatus: row.httpStatus ?? 0,
    error: row.error ?? '',
    responseHead: row.responseHead ?? '',
  };
}
