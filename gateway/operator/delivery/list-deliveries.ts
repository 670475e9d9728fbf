import { READ } from '../../http/problem-codes.ts';
import { DeliveryFilters, DeliveryPage, deliveryPage } from '../../resource/delivery.ts';
import { merchantId } from '../fields.ts';
import { operatorRoute } from '../route.ts';

export const listDeliveries = operatorRoute({
  method: 'get',
  path: '/operator/deliveries',
  tag: 'Operators: deliveries',
  summary: 'List deliveries, newest first',
  description: 'Of all merchants, without attempts; filters are joined by AND.',
  query: DeliveryFilters.extend({ merchantId: merchantId.optional() }),
  answers: { 200: { description: 'A page', schema: DeliveryPage } },
  codes: READ,
  handler: async ({ ctx, core, asOperator, query }) => {
    ctx.body = await deliveryPage(core, query, asOperator);
  },
});
