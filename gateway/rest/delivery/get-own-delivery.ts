import { MANAGED_READ } from '../../http/problem-codes.ts';
import { AttemptsPage, WholeDelivery, wholeDeliveryJson } from '../../resource/delivery.ts';
import { uuid } from '../../resource/request-fields.ts';
import { restRoute } from '../route.ts';

export const getOwnDelivery = restRoute({
  method: 'get',
  path: '/deliveries/{deliveryId}',
  tag: 'Webhook',
  summary: 'Look up a delivery with its attempts, what it sends and where, and what it is about',
  description:
    'The newest attempts first by page, the oldest first in a page. `content` is byte for byte what an attempt would send ' +
    'now, tokens included.',
  parameters: { deliveryId: uuid('delivery') },
  query: AttemptsPage,
  answers: { 200: { description: 'The delivery', schema: WholeDelivery } },
  codes: [...MANAGED_READ, 'OPERATION_NOT_FOUND', 'RECONCILING'],
  handler: async ({ ctx, core, merchantId, asKey, params, query }) => {
    ctx.body = wholeDeliveryJson(await core.notifications.getDelivery({ ...params, ...query, merchantId }, asKey));
  },
});
