import { DeliveryState, EndpointKind } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import type { DeliveryRow } from '../../storage/delivery/delivery.ts';
import { listDeliveries as listStored } from '../../storage/delivery/read-deliveries.ts';
import type { Method } from '../core.ts';
import { isUuid } from '../ids.ts';
import { BY_ID, filtersOf, readPage } from '../pages.ts';
import { keptEndpointKind } from '../present.ts';
import { presentDelivery } from './present-delivery.ts';

/** Lists deliveries, newest first; their ids are in the order of their creation. */
export const listDeliveries: Method<'listDeliveries'> = async (core, request) => {
  const { merchantId, endpointKind, requestId, createdFrom, createdTo, holdRequestId } = request;
  if (holdRequestId !== '' && !isUuid(holdRequestId)) return { deliveries: [], nextPageToken: '' };
  const kind = endpointKind === EndpointKind.UNSPECIFIED ? undefined : keptEndpointKind(endpointKind);
  const state = (request.state && DeliveryState[request.state]) as DeliveryRow['state'];
  const filters = filtersOf({ merchantId, endpointKind: kind, state, requestId, createdFrom, createdTo });
  const { page, nextPageToken } = await readPage(request, filters, BY_ID, {
    read: (after, limit) => listStored(core.reads, filters, { holdRequestId, after, limit }),
    present: (row) => presentDelivery(row),
  });
  return { deliveries: page, nextPageToken };
};
