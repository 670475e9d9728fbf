import { z } from 'zod';
import { DeliveryState, EndpointKind } from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { READ } from '../../http/problem-codes.ts';
import { pageOf } from '../../resource/answer-fields.ts';
import { pageJson } from '../../resource/from-core.ts';
import { isRequestId } from '../../resource/identifiers.ts';
import { page, requestId, text } from '../../resource/request-fields.ts';
import { defined } from '../../resource/to-core.ts';
import { endpointKind, merchantId } from '../fields.ts';
import { operatorRoute } from '../route.ts';
import { Delivery, deliveryJson, deliveryState } from './delivery.ts';

const DeliveryPage = pageOf(Delivery).meta({ id: 'DeliveryPage', description: 'Newest first' });

export const listDeliveries = operatorRoute({
  method: 'get',
  path: '/operator/deliveries',
  tag: 'Operators: deliveries',
  summary: 'List deliveries, newest first',
  query: z.strictObject({
    merchantId: merchantId.optional(),
    endpointKind: endpointKind.optional(),
    state: deliveryState.optional(),
    requestId: text(64).meta({ description: "The operation's, or the relayed notification's" }).optional(),
    holdRequestId: requestId.optional(),
    ...page,
  }),
  answers: { 200: { description: 'A page', schema: DeliveryPage } },
  codes: READ,
  handler: async ({ ctx, core, asOperator, query: { endpointKind, state, pageSize, ...filters } }) => {
    if (filters.holdRequestId !== undefined && !isRequestId(filters.holdRequestId)) {
      ctx.body = pageJson([], '');
      return;
    }
    const request = defined({
      ...filters,
      endpointKind: endpointKind && EndpointKind[endpointKind],
      state: state && DeliveryState[state],
      pageSize: Number(pageSize ?? 0),
    });
    const { deliveries, nextPageToken } = await core.notifications.listDeliveries(request, asOperator);
    ctx.body = pageJson(deliveries.map(deliveryJson), nextPageToken);
  },
});
