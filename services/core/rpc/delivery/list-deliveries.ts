import { timestampDate } from '@bufbuild/protobuf/wkt';
import {
  DeliveryState,
  EndpointKind,
  type ListDeliveriesRequest,
} from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import type { DeliveryRow } from '../../storage/delivery/delivery.ts';
import { type DeliveryFilter, listDeliveries as listStored } from '../../storage/delivery/read-deliveries.ts';
import type { Method } from '../core.ts';
import { isUuid } from '../ids.ts';
import { cutPage, pageKey, pageSizeOf, pageToken } from '../pages.ts';
import { keptEndpointKind } from '../present.ts';
import { presentDelivery } from './present-delivery.ts';

/** Lists deliveries, newest first; their ids are in the order of their creation. */
export const listDeliveries: Method<'listDeliveries'> = async (core, request) => {
  const { holdRequestId } = request;
  if (holdRequestId !== '' && !isUuid(holdRequestId)) return { deliveries: [], nextPageToken: '' };
  const filters = filtersOf(request);
  const after = pageKey(request.pageToken, filters, isUuid);
  const size = pageSizeOf(request);
  const rows = await listStored(core.database, filters, { holdRequestId, after, limit: size + 1 });
  const { page, nextPageToken } = cutPage(rows, size, (last) => pageToken(last.id, filters));
  return { deliveries: page.map((row) => presentDelivery(row)), nextPageToken };
};

function filtersOf(request: ListDeliveriesRequest): DeliveryFilter {
  const { merchantId, endpointKind, state, requestId, createdFrom, createdTo } = request;
  return {
    ...(merchantId !== '' && { merchantId }),
    ...(endpointKind !== EndpointKind.UNSPECIFIED && { endpointKind: keptEndpointKind(endpointKind) }),
    ...(state !== DeliveryState.UNSPECIFIED && { state: DeliveryState[state] as DeliveryRow['state'] }),
    ...(requestId !== '' && { requestId }),
    ...(createdFrom && { createdFrom: timestampDate(createdFrom) }),
    ...(createdTo && { createdTo: timestampDate(createdTo) }),
  };
}
