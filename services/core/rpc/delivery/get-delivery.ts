import type { MethodImpl } from '@connectrpc/connect';
import type { NotificationService } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { readWholeDelivery } from '../../storage/delivery/read-deliveries.ts';
import { readEndpointTerms } from '../../storage/endpoint/endpoint-terms.ts';
import type { Core } from '../core.ts';
import { isUuid } from '../ids.ts';
import { findOperation } from '../operation/find-operation.ts';
import { refusalOf } from '../refuse.ts';
import { presentContent } from './present-content.ts';
import { presentDelivery } from './present-delivery.ts';

/** Looks up a delivery with its attempts, what it sends, and what it is about. Throws OPERATION_NOT_FOUND. */
export function getDelivery(core: Core): MethodImpl<typeof NotificationService.method.getDelivery> {
  return async ({ deliveryId }) => {
    const { database, cipher } = core;
    const found = isUuid(deliveryId) ? await readWholeDelivery(database, deliveryId) : undefined;
    if (!found) throw refusalOf('OPERATION_NOT_FOUND');
    const { delivery, attempts } = found;
    const { merchantId, requestId } = delivery;
    const terms = (await readEndpointTerms(database.query, cipher, [merchantId])).get(merchantId);
    const operation = isUuid(requestId) ? await findOperation(core, requestId, merchantId) : undefined;
    return {
      delivery: presentDelivery(delivery, attempts),
      ...(terms && { content: presentContent(delivery, terms, core.clock()) }),
      ...(operation && { operation }),
    };
  };
}
