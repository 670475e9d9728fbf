import { WRITE } from '../../http/problem-codes.ts';
import { answered } from '../../resource/core-messages.ts';
import { Delivery, deliveryJson } from '../../resource/delivery.ts';
import { NoFields, restRoute } from '../route.ts';

export const sendTestNotification = restRoute({
  method: 'post',
  path: '/webhook-endpoint/test',
  tag: 'Webhook',
  summary: 'Send a test notification to the webhook',
  description:
    'It is signed as every other, and attempted once; its path ends in `payment/test`, its amount is 0, and its body says ' +
    '`"test": true`. What became of it is in its delivery. Refused as INVALID_REQUEST without a `webhookUrl`, and as ' +
    'RATE_LIMITED after 5 in a minute.',
  body: NoFields,
  answers: { 201: { description: 'Its delivery, which waits for the first attempt', schema: Delivery } },
  codes: WRITE,
  handler: async ({ ctx, core, merchantId, asKey }) => {
    const { delivery } = await core.notifications.sendTestNotification({ merchantId }, asKey);
    ctx.status = 201;
    ctx.body = deliveryJson(answered(delivery));
  },
});
