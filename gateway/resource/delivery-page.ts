import { z } from 'zod';
import type { GrpcCall } from '../../platform/grpc-client.ts';
import { DeliveryState, EndpointKind } from '../../proto/gen/holdfast/v1/notification_pb.js';
import type { Core } from '../core/client.ts';
import { pageOf } from './answer-fields.ts';
import { Delivery, deliveryJson, deliveryState, endpointKind } from './delivery.ts';
import { pageJson } from './from-core.ts';
import { isRequestId } from './identifiers.ts';
import { page, requestId, text, time } from './request-fields.ts';
import { defined, timestampOf } from './to-core.ts';

export const DeliveryPage = pageOf(Delivery).meta({ id: 'DeliveryPage', description: 'Newest first' });

/** Filters of a list of deliveries, joined by AND. */
export const DeliveryFilters = z.strictObject({
  endpointKind: endpointKind.optional(),
  state: deliveryState.optional(),
  requestId: text(64).meta({ description: "The operation's, or the relayed notification's" }).optional(),
  holdRequestId: requestId.optional(),
  createdFrom: time.optional(),
  createdTo: time.optional(),
  ...page,
});

/** A page of a merchant's deliveries as JSON; of all merchants' when it is absent. A malformed holdRequestId finds nothing. */
export async function deliveryPage(
  core: Core,
  { merchantId, ...query }: z.output<typeof DeliveryFilters> & { readonly merchantId?: string | undefined },
  call: GrpcCall,
) {
  const { endpointKind, state, createdFrom, createdTo, pageSize, ...filters } = query;
  if (filters.holdRequestId !== undefined && !isRequestId(filters.holdRequestId)) return pageJson([], '');
  const request = defined({
    ...filters,
    merchantId,
    endpointKind: endpointKind && EndpointKind[endpointKind],
    state: state && DeliveryState[state],
    createdFrom: timestampOf(createdFrom),
    createdTo: timestampOf(createdTo),
    pageSize: Number(pageSize ?? 0),
  });
  const { deliveries, nextPageToken } = await core.notifications.listDeliveries(request, call);
  return pageJson(deliveries.map(deliveryJson), nextPageToken);
}
