import { create } from '@bufbuild/protobuf';
import { z } from 'zod';
import type { Merchant as CoreMerchant } from '../../proto/gen/holdfast/v1/merchant_pb.js';
import { type Endpoint as CoreEndpoint, EndpointSchema } from '../../proto/gen/holdfast/v1/notification_pb.js';
import { restName } from '../http/problem.ts';
import { MANAGED_READ } from '../http/problem-codes.ts';
import { answer } from '../resource/answer.ts';
import { answered, some } from '../resource/answer-fields.ts';
import { Delivery } from '../resource/delivery.ts';
import { CreatedSigningSecret, SigningSecret } from '../resource/merchant.ts';
import { endpointUrl, ownMerchantId } from '../resource/request-fields.ts';
import { AddSigningSecret, NoFields, restRoute } from './route.ts';

const webhookUrl = endpointUrl('Where signed notifications go: an origin with an optional path');

const EndpointState = answer(undefined, EndpointSchema, {
  only: ['pause', 'pausedUntil', 'failureCount', 'failingSince'],
});

const WebhookEndpoint = z
  .object({
    webhookUrl: webhookUrl.describe('Where signed notifications go; absent = nowhere').optional(),
    ...EndpointState.schema.shape,
    signingSecrets: z.array(SigningSecret.schema).describe('Oldest first, with the newest 100 retired ones'),
    warnings: z.array(z.string()).describe('What may keep notifications from arriving, as far as the address shows it'),
  })
  .meta({ id: 'WebhookEndpoint', description: "The merchant's webhook and the secrets that sign what it receives" });

/** The webhook as JSON, from core's messages; an endpoint that always worked is not among the endpoints. */
function webhookEndpointJson(merchant: CoreMerchant, endpoints: readonly CoreEndpoint[]) {
  const endpoint = endpoints.find(({ endpointId }) => endpointId === 'default');
  return {
    webhookUrl: merchant.contract && some(merchant.contract.webhookUrl),
    ...EndpointState.json(endpoint ?? create(EndpointSchema)),
    signingSecrets: merchant.signingSecrets.map(SigningSecret.json),
    warnings: merchant.warnings
      .filter(({ field }) => field === 'contract.webhook_url')
      .map(({ description }) => restName(description)),
  };
}

export const WEBHOOK_ROUTES = {
  getWebhookEndpoint: restRoute('Webhook', 'GET /webhook-endpoint', {
    scope: 'webhook',
    summary: 'Look up where notifications go, and what signs them',
    description:
      'Shows the address, whether and why deliveries are paused, and the signing secrets by their ids; `warnings` ' +
      'name what may keep notifications from arriving.',
    answers: { 200: { description: 'The webhook', schema: WebhookEndpoint } },
    codes: MANAGED_READ,
    handler: async ({ core, merchantId, asKey }) => {
      const [{ merchant }, { endpoints }] = await Promise.all([
        core.merchants.getMerchant({ merchantId }, asKey),
        core.notifications.listEndpoints({ merchantId }, asKey),
      ]);
      return webhookEndpointJson(answered(merchant), endpoints);
    },
  }),
  setWebhookEndpoint: restRoute('Webhook', 'PUT /webhook-endpoint', {
    scope: 'webhook',
    summary: 'Set where notifications go',
    description:
      'Notifications that still wait go to the new address. A pause that the endpoint has caused, by failing or by a ' +
      '410, ends; one by an operator stays. The address is checked here as far as it shows, and at each attempt. ' +
      'Refused as RATE_LIMITED after 30 changes of the webhook or its secrets in a minute.',
    body: z
      .strictObject({
        webhookUrl: webhookUrl
          .nullable()
          .describe('Where signed notifications go from now on; null = nowhere, and nothing is kept for later'),
        merchantId: ownMerchantId,
      })
      .meta({ id: 'SetWebhookEndpoint' }),
    answers: { 200: { description: 'The webhook as it is now', schema: WebhookEndpoint } },
    handler: async ({ core, merchantId, asKey, body: { webhookUrl } }) => {
      const request = { merchantId, webhookUrl: webhookUrl ?? '' };
      const { merchant } = await core.merchants.setWebhookUrl(request, asKey);
      const { endpoints } = await core.notifications.listEndpoints({ merchantId }, asKey);
      return webhookEndpointJson(answered(merchant), endpoints);
    },
  }),
  sendTestNotification: restRoute('Webhook', 'POST /webhook-endpoint/test', {
    scope: 'webhook',
    again: 'sends another one',
    summary: 'Send a test notification to the webhook',
    description:
      'It is signed as every other, and attempted once; its path ends in `payment/test`, its amount is 0, and its ' +
      'body says `"test": true`. What became of it is in its delivery. Refused as INVALID_REQUEST without a ' +
      '`webhookUrl`, and as RATE_LIMITED after 5 in a minute.',
    body: NoFields,
    answers: { 201: { description: 'Its delivery, which waits for the first attempt', schema: Delivery.schema } },
    handler: async ({ core, merchantId, asKey }) =>
      Delivery.json((await core.notifications.sendTestNotification({ merchantId }, asKey)).delivery),
  }),
  addOwnSigningSecret: restRoute('Webhook', 'POST /signing-secrets', {
    scope: 'webhook',
    again: 'adds another one, or is refused while two are live',
    summary: 'Add a second signing secret, shown once',
    description:
      'The older secret makes `X-Service-Signature` until it is retired, by you or at `olderExpiresAt`; ' +
      '`webhook-signature` has one signature of each. Refused as INVALID_REQUEST while two are live.',
    body: AddSigningSecret,
    answers: { 201: { description: 'Created', schema: CreatedSigningSecret } },
    handler: async ({ core, merchantId, asKey, body: { olderExpiresAt } }) => {
      const request = { merchantId, olderExpiresAt };
      const { signingSecret: added, secret } = await core.merchants.addSigningSecret(request, asKey);
      return { ...SigningSecret.json(added), signingSecret: secret };
    },
  }),
  retireOwnSigningSecret: restRoute('Webhook', 'DELETE /signing-secrets/{signingSecretId}', {
    scope: 'webhook',
    summary: 'End a signing secret; not the last one',
    description: 'Once more changes nothing. Refused as INVALID_REQUEST for the last live one that does not expire.',
    answers: { 204: { description: 'Retired' } },
    handler: async ({ core, merchantId, asKey, params }) => {
      await core.merchants.retireSigningSecret({ ...params, merchantId }, asKey);
    },
  }),
} as const;
