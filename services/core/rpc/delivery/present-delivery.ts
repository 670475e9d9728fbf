import type { MessageInitShape } from '@bufbuild/protobuf';
import { type DeliverySchema, DeliveryState } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import type { DeliveryAttemptRow } from '../../storage/delivery/delivery.ts';
import { type DeliveryHead, readWholeDelivery } from '../../storage/delivery/read-deliveries.ts';
import type { Core } from '../core.ts';
import { isUuid } from '../ids.ts';
import { endpointKindOf, notificationKindOf, presentFields } from '../present.ts';
import { refusalOf } from '../refuse.ts';
import { isInScope } from '../server/caller.ts';

/** A delivery as operators see it; never its body. */
export function presentDelivery(
  row: DeliveryHead,
  attempts: readonly DeliveryAttemptRow[] = [],
): MessageInitShape<typeof DeliverySchema> {
  return {
    ...presentFields(row, 'merchantId', 'requestId', 'statusInfo', 'attemptCount', 'createdAt', 'dueAt', 'deliveredAt'),
    deliveryId: row.id,
    endpointKind: endpointKindOf(row.endpointKind),
    kind: notificationKindOf(row.kind),
    state: DeliveryState[row.state],
    attempts: attempts.map((each) =>
      presentFields(each, 'number', 'startedAt', 'latencyMs', 'httpStatus', 'error', 'responseHead'),
    ),
  };
}

/** One delivery with its attempts. Throws OPERATION_NOT_FOUND, also when it is not of the merchant; '' = any merchant's. */
export async function demandDelivery(core: Core, deliveryId: string, merchantId: string) {
  const found = isUuid(deliveryId) ? await readWholeDelivery(core.database, deliveryId) : undefined;
  if (!found || !isInScope(found.delivery, merchantId || undefined)) throw refusalOf('OPERATION_NOT_FOUND');
  return found;
}

/** The answer about one delivery, with its attempts. Throws what demandDelivery() throws. */
export async function findDelivery(core: Core, deliveryId: string, merchantId: string) {
  const { delivery, attempts } = await demandDelivery(core, deliveryId, merchantId);
  return presentDelivery(delivery, attempts);
}
