import { ListDeliveriesRequestSchema } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { type DeliveryFilter, listDeliveries as listStored } from '../../storage/delivery/read-deliveries.ts';
import type { Method } from '../core.ts';
import { isUuid } from '../ids.ts';
import { BY_ID, filtersOf, readPage } from '../pages.ts';
import { keptEndpointKind } from '../present.ts';
import { presentDelivery } from './present-delivery.ts';

/** Lists deliveries, newest first; their ids are in the order of their creation. */
export const listDeliveries: Method<'listDeliveries'> = async (core, request) => {
  const { endpointKind, ...same } = filtersOf<DeliveryFilter>(ListDeliveriesRequestSchema, request);
  if (same.holdRequestId !== undefined && !isUuid(same.holdRequestId)) return { deliveries: [], nextPageToken: '' };
  const filters = { ...same, ...(endpointKind && { endpointKind: keptEndpointKind(request.endpointKind) }) };
  const { page, nextPageToken } = await readPage(request, filters, BY_ID, {
    read: (after, limit) => listStored(core.reads, filters, after, limit),
    present: (row) => presentDelivery(row),
  });
  return { deliveries: page, nextPageToken };
};
