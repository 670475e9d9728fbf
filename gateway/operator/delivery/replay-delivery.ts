import { WRITE } from '../../http/problem-codes.ts';
import { answered } from '../../resource/core-messages.ts';
import { DeliveryWithAttempts, deliveryWithAttemptsJson } from '../../resource/delivery.ts';
import { NoBody, uuid } from '../../resource/request-fields.ts';
import { operatorRoute } from '../route.ts';

export const replayDelivery = operatorRoute({
  method: 'post',
  path: '/operator/deliveries/{deliveryId}/replay',
  tag: 'Operators: deliveries',
  summary: 'Send a delivery again',
  description:
    'With the `webhook-id` that it had and a new schedule of attempts; one that waits for its next attempt gets it ' +
    'at once. Refused as INVALID_REQUEST when its body was purged or it had 200 attempts.',
  parameters: { deliveryId: uuid('delivery') },
  body: NoBody,
  answers: { 200: { description: 'The delivery as it is now', schema: DeliveryWithAttempts } },
  codes: [...WRITE, 'OPERATION_NOT_FOUND', 'RECONCILING'],
  handler: async ({ ctx, core, asOperator, params }) => {
    const { delivery } = await core.notifications.replayDelivery(params, asOperator);
    ctx.body = deliveryWithAttemptsJson(answered(delivery));
  },
});
