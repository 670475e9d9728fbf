import { MANAGED_READ } from '../../http/problem-codes.ts';
import { DeliveryFilters, DeliveryPage, deliveryPage } from '../../resource/delivery.ts';
import { restRoute } from '../route.ts';

export const listOwnDeliveries = restRoute({
  method: 'get',
  path: '/deliveries',
  tag: 'Webhook',
  summary: 'List deliveries of notifications, newest first',
  description: 'Filters are joined by AND.',
  query: DeliveryFilters,
  answers: { 200: { description: 'A page', schema: DeliveryPage } },
  codes: MANAGED_READ,
  handler: async ({ ctx, core, merchantId, asKey, query }) => {
    ctx.body = await deliveryPage(core, { ...query, merchantId }, asKey);
  },
});
