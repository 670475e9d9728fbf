import { z } from 'zod';
import { ApiKeySchema } from '../../../proto/gen/holdfast/v1/merchant_pb.js';
import { WRITE_ONE } from '../../http/problem-codes.ts';
import { answer } from '../../resource/answer.ts';
import { merchantId, NoBody, uuid } from '../../resource/request-fields.ts';
import { CreatedSigningSecret, SigningSecret } from '../../resource/signing-secret.ts';
import { operatorRoute } from '../route.ts';

/** An API key without its value. */
export const ApiKey = answer('ApiKey', ApiKeySchema);

/** The value, in the one answer that carries it. */
export const apiKey = z.string().describe('The key; shown this once');

const CreateApiKey = z
  .strictObject({
    managesWebhook: z
      .boolean()
      .describe(`${ApiKey.schema.shape.managesWebhook?.description}; default false`)
      .optional(),
  })
  .meta({ id: 'CreateApiKey' });

const CreatedApiKey = ApiKey.schema.extend({ apiKey }).meta({ id: 'CreatedApiKey' });

export const createApiKey = operatorRoute({
  method: 'post',
  path: '/operator/merchants/{merchantId}/api-keys',
  tag: 'Operators: merchants',
  summary: 'Add an API key, shown once',
  description: 'The key is in this answer only; core stores its hash. Every gateway takes it from this answer on.',
  parameters: { merchantId },
  body: CreateApiKey,
  answers: { 201: { description: 'Created', schema: CreatedApiKey } },
  codes: WRITE_ONE,
  handler: async ({ core, asOperator, params, body: { managesWebhook = false } }) => {
    const request = { ...params, managesWebhook };
    const { apiKey: created, key: apiKey } = await core.merchants.createApiKey(request, asOperator);
    return { ...ApiKey.json(created), apiKey };
  },
});

export const revokeApiKey = operatorRoute({
  method: 'delete',
  path: '/operator/merchants/{merchantId}/api-keys/{apiKeyId}',
  tag: 'Operators: merchants',
  summary: 'End an API key; gateways stop taking it within 5 seconds',
  description: 'Requests with it are answered 401 then. Once more changes nothing.',
  parameters: { merchantId, apiKeyId: uuid('key') },
  answers: { 204: { description: 'Revoked' } },
  codes: WRITE_ONE,
  handler: async ({ core, asOperator, params }) => {
    await core.merchants.revokeApiKey(params, asOperator);
  },
});

export const addSigningSecret = operatorRoute({
  method: 'post',
  path: '/operator/merchants/{merchantId}/signing-secrets',
  tag: 'Operators: merchants',
  summary: 'Add a second signing secret, shown once',
  description:
    'The older secret makes `X-Service-Signature` until it is retired; the relay accepts signatures of both. ' +
    'Refused as INVALID_REQUEST while two are live.',
  parameters: { merchantId },
  body: NoBody,
  answers: { 201: { description: 'Created', schema: CreatedSigningSecret } },
  codes: WRITE_ONE,
  handler: async ({ core, asOperator, params }) => {
    const { signingSecret: added, secret: signingSecret } = await core.merchants.addSigningSecret(params, asOperator);
    return { ...SigningSecret.json(added), signingSecret };
  },
});

export const retireSigningSecret = operatorRoute({
  method: 'delete',
  path: '/operator/merchants/{merchantId}/signing-secrets/{signingSecretId}',
  tag: 'Operators: merchants',
  summary: 'End a signing secret; not the last one',
  description:
    'Gateways refuse its signatures within seconds. Once more changes nothing. Refused as INVALID_REQUEST for the ' +
    'last live one.',
  parameters: { merchantId, signingSecretId: uuid('secret') },
  answers: { 204: { description: 'Retired' } },
  codes: WRITE_ONE,
  handler: async ({ core, asOperator, params }) => {
    await core.merchants.retireSigningSecret(params, asOperator);
  },
});
