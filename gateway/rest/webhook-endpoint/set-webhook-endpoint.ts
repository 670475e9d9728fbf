import { z } from 'zod';
import { WRITE } from '../../http/problem-codes.ts';
import { answered } from '../../resource/core-messages.ts';
import { merchantId } from '../../resource/request-fields.ts';
import { restRoute } from '../route.ts';
import { WebhookEndpoint, webhookEndpointJson, webhookUrl } from './webhook-endpoint.ts';

const SetWebhookEndpoint = z
  .strictObject({
    webhookUrl: webhookUrl.nullable().meta({
      description: 'Where signed notifications go from now on; null = nowhere, and nothing is kept for later',
    }),
    merchantId: merchantId.optional(),
  })
  .meta({ id: 'SetWebhookEndpoint' });

export const setWebhookEndpoint = restRoute({
  method: 'put',
  path: '/webhook-endpoint',
  tag: 'Webhook',
  summary: 'Set where notifications go',
  description:
    'Notifications that still wait go to the new address. A pause that the endpoint has caused, by failing or by a 410, ' +
    'ends; one by an operator stays. The address is checked here as far as it shows, and at each attempt.',
  body: SetWebhookEndpoint,
  answers: { 200: { description: 'The webhook as it is now', schema: WebhookEndpoint } },
  codes: WRITE,
  handler: async ({ ctx, core, merchantId, asKey, body: { webhookUrl } }) => {
    const request = { merchantId, webhookUrl: webhookUrl ?? '' };
    const { merchant } = await core.merchants.setWebhookUrl(request, asKey);
    const { endpoints } = await core.notifications.listEndpoints({ merchantId }, asKey);
    ctx.body = webhookEndpointJson(answered(merchant), endpoints);
  },
});
