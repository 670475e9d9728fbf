import { z } from 'zod';
import { MANAGED_READ } from '../http/problem-codes.ts';
import { answered } from '../resource/answer-fields.ts';
import { Delivery } from '../resource/delivery.ts';
import { CreatedSigningSecret, SigningSecret } from '../resource/merchant.ts';
import { ownMerchantId } from '../resource/request-fields.ts';
import {
  CreatedEndpoint,
  changedEndpoint,
  changedSettings,
  endpointsJson,
  FurtherEndpoint,
  FurtherEndpoints,
  newEndpoint,
  newSettings,
  TYPES_DESCRIPTION,
} from '../resource/webhook-endpoint.ts';
import { AddSigningSecret, NoFields, restRoute } from './route.ts';

export const WEBHOOK_ENDPOINT_ROUTES = {
  listWebhookEndpoints: restRoute('Webhook', 'GET /webhook-endpoints', {
    scope: 'webhook',
    summary: 'List all endpoints of the merchant',
    description:
      'Each with its settings, its health and its signing secrets by their ids. `default` is the endpoint of ' +
      '`/webhook-endpoint`, whose secrets are those of the merchant.',
    answers: { 200: { description: 'The endpoints', schema: FurtherEndpoints } },
    codes: MANAGED_READ,
    handler: async ({ core, merchantId, asKey }) =>
      endpointsJson((await core.endpoints.listWebhookEndpoints({ merchantId }, asKey)).endpoints),
  }),
  createWebhookEndpoint: restRoute('Webhook', 'POST /webhook-endpoints', {
    scope: 'webhook',
    again: 'is refused as INVALID_REQUEST, because the endpoint is there',
    summary: 'Add an endpoint; its signing secret is shown once',
    description:
      'It gets what becomes final from now on, under webhook-ids of its own; what becomes final in the same moment it ' +
      `may miss. Another endpoint that fails delays it in nothing. ${TYPES_DESCRIPTION} Refused as RATE_LIMITED after ` +
      '30 changes of endpoints or secrets in a minute.',
    body: z.strictObject({ ...newEndpoint, merchantId: ownMerchantId }).meta({ id: 'CreateWebhookEndpoint' }),
    answers: { 201: { description: 'The endpoint, and its secret', schema: CreatedEndpoint } },
    handler: async ({ core, merchantId, asKey, body }) => {
      const request = { ...newSettings(body), merchantId };
      const { endpoint, signingSecret } = await core.endpoints.createWebhookEndpoint(request, asKey);
      return { ...FurtherEndpoint.json(answered(endpoint)), signingSecret };
    },
  }),
  getFurtherEndpoint: restRoute('Webhook', 'GET /webhook-endpoints/{endpointId}', {
    scope: 'webhook',
    summary: 'Look up one endpoint',
    description: 'By its id, or `default`.',
    answers: { 200: { description: 'The endpoint', schema: FurtherEndpoint.schema } },
    codes: [...MANAGED_READ, 'OPERATION_NOT_FOUND', 'RECONCILING'],
    handler: async ({ core, merchantId, asKey, params }) =>
      FurtherEndpoint.json((await core.endpoints.getWebhookEndpoint({ ...params, merchantId }, asKey)).endpoint),
  }),
  updateWebhookEndpoint: restRoute('Webhook', 'PATCH /webhook-endpoints/{endpointId}', {
    scope: 'webhook',
    summary: 'Change settings of an endpoint',
    description:
      'Those that are given; `types` and `headers` each as a whole. What waits goes to a new address now, and a pause ' +
      `that the endpoint has caused ends. ${TYPES_DESCRIPTION} The same for \`default\`, whose address ` +
      '`PUT /webhook-endpoint` sets.',
    body: z.strictObject({ ...changedEndpoint, merchantId: ownMerchantId }).meta({ id: 'UpdateWebhookEndpoint' }),
    answers: { 200: { description: 'The endpoint as it is now', schema: FurtherEndpoint.schema } },
    handler: async ({ core, merchantId, asKey, params, body }) => {
      const request = { ...changedSettings(body), ...params, merchantId };
      return FurtherEndpoint.json((await core.endpoints.updateWebhookEndpoint(request, asKey)).endpoint);
    },
  }),
  deleteWebhookEndpoint: restRoute('Webhook', 'DELETE /webhook-endpoints/{endpointId}', {
    scope: 'webhook',
    again: 'is refused as OPERATION_NOT_FOUND',
    summary: 'Remove an endpoint with its secrets',
    description:
      'What waits for it ends as DEAD; its deliveries stay listed. Refused as INVALID_REQUEST for `default`, which ' +
      '`PUT /webhook-endpoint` empties.',
    answers: { 204: { description: 'Removed' } },
    handler: async ({ core, merchantId, asKey, params }) => {
      await core.endpoints.deleteWebhookEndpoint({ ...params, merchantId }, asKey);
    },
  }),
  testWebhookEndpoint: restRoute('Webhook', 'POST /webhook-endpoints/{endpointId}/test', {
    scope: 'webhook',
    again: 'sends another one',
    summary: 'Send a test notification to one endpoint',
    description: 'As `POST /webhook-endpoint/test` does, whatever types the endpoint asks for.',
    body: NoFields,
    answers: { 201: { description: 'Its delivery, which waits for the first attempt', schema: Delivery.schema } },
    handler: async ({ core, merchantId, asKey, params }) =>
      Delivery.json((await core.notifications.sendTestNotification({ ...params, merchantId }, asKey)).delivery),
  }),
  addEndpointSecret: restRoute('Webhook', 'POST /webhook-endpoints/{endpointId}/signing-secrets', {
    scope: 'webhook',
    again: 'adds another one, or is refused while two are live',
    summary: 'Add a second signing secret of an endpoint, shown once',
    description: 'As `POST /signing-secrets` does for `default`. Refused as INVALID_REQUEST while two are live.',
    body: AddSigningSecret,
    answers: { 201: { description: 'Created', schema: CreatedSigningSecret } },
    handler: async ({ core, merchantId, asKey, params, body: { olderExpiresAt } }) => {
      const request = { ...params, merchantId, olderExpiresAt };
      const { signingSecret: added, secret } = await core.merchants.addSigningSecret(request, asKey);
      return { ...SigningSecret.json(added), signingSecret: secret };
    },
  }),
  retireEndpointSecret: restRoute(
    'Webhook',
    'DELETE /webhook-endpoints/{endpointId}/signing-secrets/{signingSecretId}',
    {
      scope: 'webhook',
      summary: 'End a signing secret of an endpoint; not its last one',
      description: 'Once more changes nothing. Refused as INVALID_REQUEST for the last live one that does not expire.',
      answers: { 204: { description: 'Retired' } },
      handler: async ({ core, merchantId, asKey, params }) => {
        await core.merchants.retireSigningSecret({ ...params, merchantId }, asKey);
      },
    },
  ),
} as const;
