import { z } from 'zod';
import { answered } from '../resource/answer-fields.ts';
import { AddSigningSecret, CreatedSigningSecret, SigningSecret } from '../resource/merchant.ts';
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
import { operatorRoute } from './route.ts';

const ALL = '/operator/merchants/{merchantId}/webhook-endpoints';
const ONE = `${ALL}/{endpointId}` as const;

export const OPERATOR_ENDPOINT_ROUTES = {
  listMerchantEndpoints: operatorRoute('merchants', `GET ${ALL}`, {
    summary: 'List all endpoints of a merchant',
    description: 'As the merchant sees them; `default` and `internal` are those of the contract.',
    answers: { 200: { description: 'The endpoints', schema: FurtherEndpoints } },
    handler: async ({ core, asOperator, params }) =>
      endpointsJson((await core.endpoints.listWebhookEndpoints(params, asOperator)).endpoints),
  }),
  createMerchantEndpoint: operatorRoute('merchants', `POST ${ALL}`, {
    again: 'is refused as INVALID_REQUEST, because the endpoint is there',
    summary: 'Add an endpoint of a merchant; its signing secret is shown once',
    description: `As the merchant does, and also internal ones, which get what the relay verified. ${TYPES_DESCRIPTION}`,
    body: z.strictObject(newEndpoint).meta({ id: 'CreateMerchantEndpoint' }),
    answers: { 201: { description: 'The endpoint, and its secret', schema: CreatedEndpoint } },
    handler: async ({ core, asOperator, params, body }) => {
      const request = { ...newSettings(body), ...params };
      const { endpoint, signingSecret } = await core.endpoints.createWebhookEndpoint(request, asOperator);
      return { ...FurtherEndpoint.json(answered(endpoint)), signingSecret };
    },
  }),
  getMerchantEndpoint: operatorRoute('merchants', `GET ${ONE}`, {
    summary: 'Look up one endpoint of a merchant',
    description: 'By its id, `default` or `internal`.',
    answers: { 200: { description: 'The endpoint', schema: FurtherEndpoint.schema } },
    handler: async ({ core, asOperator, params }) =>
      FurtherEndpoint.json((await core.endpoints.getWebhookEndpoint(params, asOperator)).endpoint),
  }),
  updateMerchantEndpoint: operatorRoute('merchants', `PATCH ${ONE}`, {
    summary: 'Change settings of an endpoint of a merchant',
    description:
      'Those that are given; `types` and `headers` each as a whole. What waits goes to a new address now, and a pause ' +
      `that the endpoint has caused ends. ${TYPES_DESCRIPTION} The same for \`default\` and \`internal\`, which the ` +
      'contract sets.',
    body: z.strictObject(changedEndpoint).meta({ id: 'UpdateMerchantEndpoint' }),
    answers: { 200: { description: 'The endpoint as it is now', schema: FurtherEndpoint.schema } },
    handler: async ({ core, asOperator, params, body }) => {
      const request = { ...changedSettings(body), ...params };
      return FurtherEndpoint.json((await core.endpoints.updateWebhookEndpoint(request, asOperator)).endpoint);
    },
  }),
  deleteMerchantEndpoint: operatorRoute('merchants', `DELETE ${ONE}`, {
    again: 'is refused as OPERATION_NOT_FOUND',
    summary: 'Remove an endpoint of a merchant with its secrets',
    description:
      'What waits for it ends as DEAD; its deliveries stay listed. Refused as INVALID_REQUEST for `default` and ' +
      '`internal`, which the contract sets.',
    answers: { 204: { description: 'Removed' } },
    handler: async ({ core, asOperator, params }) => {
      await core.endpoints.deleteWebhookEndpoint(params, asOperator);
    },
  }),
  addMerchantEndpointSecret: operatorRoute('merchants', `POST ${ONE}/signing-secrets`, {
    again: 'adds another one, or is refused while two are live',
    summary: 'Add a second signing secret of an endpoint, shown once',
    description: 'Refused as INVALID_REQUEST while two are live.',
    body: AddSigningSecret,
    answers: { 201: { description: 'Created', schema: CreatedSigningSecret } },
    handler: async ({ core, asOperator, params, body }) => {
      const { signingSecret: added, secret } = await core.merchants.addSigningSecret(
        { ...params, ...body },
        asOperator,
      );
      return { ...SigningSecret.json(added), signingSecret: secret };
    },
  }),
  retireMerchantEndpointSecret: operatorRoute('merchants', `DELETE ${ONE}/signing-secrets/{signingSecretId}`, {
    summary: 'End a signing secret of an endpoint; not its last one',
    description: 'Once more changes nothing. Refused as INVALID_REQUEST for the last live one that does not expire.',
    answers: { 204: { description: 'Retired' } },
    handler: async ({ core, asOperator, params }) => {
      await core.merchants.retireSigningSecret(params, asOperator);
    },
  }),
} as const;
