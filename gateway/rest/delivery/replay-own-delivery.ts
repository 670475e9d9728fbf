import { WRITE } from '../../http/problem-codes.ts';
import { answered } from '../../resource/core-messages.ts';
import { DeliveryWithAttempts, deliveryWithAttemptsJson } from '../../resource/delivery.ts';
import { uuid } from '../../resource/request-fields.ts';
import { NoFields, restRoute } from '../route.ts';

export const replayOwnDelivery = restRoute({
  method: 'post',
  path: '/deliveries/{deliveryId}/replay',
  tag: 'Webhook',
  summary: 'Send a delivery again',
  description:
    'With the `webhook-id` that it had and a new schedule of attempts, to the address that the webhook has now. One that ' +
    'waits for its next attempt gets it at once. Refused as INVALID_REQUEST when its body was purged or it ' +
    'had 200 attempts, and as RATE_LIMITED above 60 replays a minute.',
  parameters: { deliveryId: uuid('delivery') },
  body: NoFields,
  answers: { 200: { description: 'The delivery as it is now', schema: DeliveryWithAttempts } },
  codes: [...WRITE, 'OPERATION_NOT_FOUND', 'RECONCILING'],
  handler: async ({ ctx, core, merchantId, asKey, params }) => {
    const { delivery } = await core.notifications.replayDelivery({ ...params, merchantId }, asKey);
    ctx.body = deliveryWithAttemptsJson(answered(delivery));
  },
});
