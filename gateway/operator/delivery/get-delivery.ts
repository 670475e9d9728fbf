import { READ } from '../../http/problem-codes.ts';
import { AttemptsPage, WholeDelivery, wholeDeliveryJson } from '../../resource/delivery.ts';
import { uuid } from '../../resource/request-fields.ts';
import { operatorRoute } from '../route.ts';

export const getDelivery = operatorRoute({
  method: 'get',
  path: '/operator/deliveries/{deliveryId}',
  tag: 'Operators: deliveries',
  summary: 'Look up a delivery with its attempts, what it sends, and what it is about',
  description:
    'Shows the address, headers and body that an attempt would send now. Of each signature only the beginning is ' +
    'shown, and tokens in the body are hidden. The newest attempts are on the first page, the oldest first in a page.',
  parameters: { deliveryId: uuid('delivery') },
  query: AttemptsPage,
  answers: { 200: { description: 'The delivery', schema: WholeDelivery } },
  codes: [...READ, 'OPERATION_NOT_FOUND', 'RECONCILING'],
  handler: async ({ ctx, core, asOperator, params, query }) => {
    ctx.body = wholeDeliveryJson(await core.notifications.getDelivery({ ...params, ...query }, asOperator));
  },
});
