import { MANAGED_READ } from '../../http/problem-codes.ts';
import { answered } from '../../resource/core-messages.ts';
import { restRoute } from '../route.ts';
import { WebhookEndpoint, webhookEndpointJson } from './webhook-endpoint.ts';

export const getWebhookEndpoint = restRoute({
  method: 'get',
  path: '/webhook-endpoint',
  tag: 'Webhook',
  summary: 'Look up where notifications go, and what signs them',
  description:
    'Shows the address, whether and why deliveries are paused, and the signing secrets by their ids; `warnings` ' +
    'name what may keep notifications from arriving.',
  answers: { 200: { description: 'The webhook', schema: WebhookEndpoint } },
  codes: MANAGED_READ,
  handler: async ({ ctx, core, merchantId, asKey }) => {
    const [{ merchant }, { endpoints }] = await Promise.all([
      core.merchants.getMerchant({ merchantId }, asKey),
      core.notifications.listEndpoints({ merchantId }, asKey),
    ]);
    ctx.body = webhookEndpointJson(answered(merchant), endpoints);
  },
});
