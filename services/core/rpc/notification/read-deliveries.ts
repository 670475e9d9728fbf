import type { MethodImpl } from '@connectrpc/connect';
import {
  DeliveryState,
  EndpointKind,
  type ListDeliveriesRequest,
  type NotificationService,
} from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { DeliveryEntity, type DeliveryRow } from '../../storage/delivery.ts';
import { DeliveryAttemptEntity } from '../../storage/delivery-attempt.ts';
import { OperationEntity } from '../../storage/operation.ts';
import { isUuid } from '../ids.ts';
import { cutPage, pageKey, pageSizeOf, pageToken } from '../pages.ts';
import { refusalOf } from '../refuse.ts';
import { keptEndpointKind } from './kinds.ts';
import type { NotificationCore } from './notification-core.ts';
import { presentDelivery } from './present-notification.ts';

/** Looks up a delivery with its attempts. */
export function getDelivery(core: NotificationCore): MethodImpl<typeof NotificationService.method.getDelivery> {
  return async ({ deliveryId }) => ({ delivery: await readDelivery(core, deliveryId) });
}

/** A delivery with its attempts. Errors: OPERATION_NOT_FOUND. */
export async function readDelivery(core: NotificationCore, deliveryId: string) {
  if (!isUuid(deliveryId)) throw refusalOf('OPERATION_NOT_FOUND');
  const em = core.database.orm.em.fork();
  const row = await em.findOne(DeliveryEntity, { id: deliveryId });
  if (!row) throw refusalOf('OPERATION_NOT_FOUND');
  const attempts = await em.find(DeliveryAttemptEntity, { deliveryId }, { orderBy: { number: 'asc' } });
  return presentDelivery(row, attempts);
}

/** Lists deliveries, newest first; their ids are made in the order of their creation. */
export function listDeliveries(core: NotificationCore): MethodImpl<typeof NotificationService.method.listDeliveries> {
  return async (request) => {
    if (request.holdRequestId !== '' && !isUuid(request.holdRequestId)) return { deliveries: [], nextPageToken: '' };
    const filters = filtersOf(request);
    const after = pageKey(request.pageToken, filters, isUuid);
    const size = pageSizeOf(request);
    const rows = await core.database.orm.em.fork().find(
      DeliveryEntity,
      {
        ...filters,
        ...(request.holdRequestId !== '' && { requestId: { $in: await operationsOf(core, request.holdRequestId) } }),
        ...(after !== undefined && { id: { $lt: after } }),
      },
      { orderBy: { id: 'desc' }, limit: size + 1, exclude: ['body'] },
    );
    const { page, nextPageToken } = cutPage(rows as DeliveryRow[], size, (last) => pageToken(last.id, filters));
    return { deliveries: page.map((row) => presentDelivery(row)), nextPageToken };
  };
}

/** A hold's own requestId, and those of all that became of it. */
async function operationsOf(core: NotificationCore, holdRequestId: string): Promise<string[]> {
  const em = core.database.orm.em.fork();
  const operations = await em.find(OperationEntity, { holdRequestId }, { fields: ['requestId'] });
  return [holdRequestId, ...operations.map(({ requestId }) => requestId)];
}

function filtersOf({ merchantId, endpointKind, state, requestId }: ListDeliveriesRequest) {
  return {
    ...(merchantId !== '' && { merchantId }),
    ...(endpointKind !== EndpointKind.UNSPECIFIED && { endpointKind: keptEndpointKind(endpointKind) }),
    ...(state !== DeliveryState.UNSPECIFIED && { state: DeliveryState[state] as DeliveryRow['state'] }),
    ...(requestId !== '' && { requestId }),
  };
}
