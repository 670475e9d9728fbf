import { MANAGED_READ } from '../../http/problem-codes.ts';
import { WholeDelivery, wholeDeliveryJson } from '../../resource/delivery.ts';
import { uuid } from '../../resource/request-fields.ts';
import { restRoute } from '../route.ts';

export const getOwnDelivery = restRoute({
  method: 'get',
  path: '/deliveries/{deliveryId}',
  tag: 'Webhook',
  summary: 'Look up a delivery with its attempts, what it sends and where, and what it is about',
  description: 'Of each signature only the beginning is shown, and tokens in the body are hidden.',
  parameters: { deliveryId: uuid('delivery') },
  answers: { 200: { description: 'The delivery', schema: WholeDelivery } },
  codes: [...MANAGED_READ, 'OPERATION_NOT_FOUND'],
  handler: async ({ ctx, core, merchantId, asKey, params }) => {
    ctx.body = wholeDeliveryJson(await core.notifications.getDelivery({ ...params, merchantId }, asKey));
  },
});
