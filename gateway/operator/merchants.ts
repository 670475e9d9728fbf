import { z } from 'zod';
import {
  ApiKeySchema,
  CreateApiKeyRequestSchema,
  CreateMerchantRequestSchema,
  MerchantSchema,
  UpdateMerchantRequestSchema,
} from '../../proto/gen/holdfast/v1/merchant_pb.js';
import { restName } from '../http/problem.ts';
import { WRITE_ONE } from '../http/problem-codes.ts';
import { SCOPES } from '../http/scopes.ts';
import { answer, pageOf } from '../resource/answer.ts';
import { mostOf } from '../resource/contract-bounds.ts';
import {
  AddSigningSecret,
  Contract,
  CreatedSigningSecret,
  contractJson,
  contractOf,
  SigningSecret,
  signingSecret,
} from '../resource/merchant.ts';
import { merchantId, page, textOf, time } from '../resource/request-fields.ts';
import { operatorRoute } from './route.ts';

const ApiKey = answer('ApiKey', ApiKeySchema);

const apiKey = z.string().describe('The key; shown this once');

const merchantTerms = {
  name: textOf(CreateMerchantRequestSchema.field.name).meta({ description: 'Name for people', examples: ['Acme'] }),
  contract: Contract,
};

const warnings = z.array(z.object({ field: z.string(), message: z.string() }));

const Merchant = answer('Merchant', MerchantSchema, {
  without: ['warnings'],
  parts: { apiKeys: ApiKey, signingSecrets: SigningSecret, contract: { schema: Contract, json: contractJson } },
  own: {
    warnings: {
      schema: warnings.describe('What may keep notifications from arriving, as far as the contract shows it'),
      read: (merchant) =>
        merchant.warnings.map(({ field, description }) => ({ field: restName(field), message: description })),
    },
  },
});

const MerchantPage = pageOf('MerchantPage', 'By merchantId', Merchant, 'merchants');

const CreatedMerchant = z.object({ merchant: Merchant.schema, apiKey, signingSecret }).meta({ id: 'CreatedMerchant' });

const CreatedApiKey = ApiKey.schema.extend({ apiKey }).meta({ id: 'CreatedApiKey' });

export const MERCHANT_ROUTES = {
  listMerchants: operatorRoute('merchants', 'GET /operator/merchants', {
    summary: 'List merchants',
    description: 'By `merchantId`, each as its own route shows it.',
    query: z.strictObject(page),
    answers: { 200: { description: 'A page', schema: MerchantPage.schema } },
    handler: async ({ core, asOperator, query }) =>
      MerchantPage.json(await core.merchants.listMerchants(query, asOperator)),
  }),
  createMerchant: operatorRoute('merchants', 'POST /operator/merchants', {
    again: 'is refused as INVALID_REQUEST once the merchant exists',
    summary: 'Create a merchant; its API key and signing secret are shown once',
    description:
      'Both are in this answer only. Refused as INVALID_REQUEST when the name is taken, or when an address of the ' +
      'contract could never be delivered to.',
    body: z
      .strictObject({
        merchantId,
        ...merchantTerms,
        apiKeyManagesWebhook: z.boolean().describe("The first API key's managesWebhook; default false").optional(),
      })
      .meta({ id: 'CreateMerchant' }),
    answers: { 201: { description: 'Created', schema: CreatedMerchant } },
    handler: async ({ core, asOperator, body: { apiKeyManagesWebhook = false, ...body } }) => {
      const request = { ...body, apiKeyManagesWebhook, contract: contractOf(body.contract) };
      const { merchant, apiKey, signingSecret } = await core.merchants.createMerchant(request, asOperator);
      return { merchant: Merchant.json(merchant), apiKey, signingSecret };
    },
  }),
  getMerchant: operatorRoute('merchants', 'GET /operator/merchants/{merchantId}', {
    summary: 'Look up a merchant',
    description:
      'The contract, with keys and secrets by their ids. `warnings` name what is accepted and may not work, such as ' +
      'an address that workers may not reach.',
    answers: { 200: { description: 'The merchant', schema: Merchant.schema } },
    handler: async ({ core, asOperator, params }) =>
      Merchant.json((await core.merchants.getMerchant(params, asOperator)).merchant),
  }),
  updateMerchant: operatorRoute('merchants', 'PUT /operator/merchants/{merchantId}', {
    summary: 'Replace name and contract; holds placed before keep their terms',
    description:
      'A field that is left out gets its default, not its old value. With the `etag` that was read, refused as ' +
      'PRECONDITION_FAILED when the merchant was changed since, also by itself. Refused as INVALID_REQUEST as when a ' +
      'merchant is created.',
    body: z
      .strictObject({
        ...merchantTerms,
        etag: textOf(UpdateMerchantRequestSchema.field.etag)
          .meta({
            description: 'As it was read; without it, whatever the merchant is now is replaced',
            examples: ['42'],
          })
          .optional(),
      })
      .meta({ id: 'UpdateMerchant' }),
    answers: { 200: { description: 'The merchant as it is now', schema: Merchant.schema } },
    codes: [...WRITE_ONE, 'PRECONDITION_FAILED'],
    handler: async ({ core, asOperator, params, body: { contract, ...body } }) => {
      const request = { ...params, ...body, contract: contractOf(contract) };
      const { merchant } = await core.merchants.updateMerchant(request, asOperator);
      return Merchant.json(merchant);
    },
  }),
  createApiKey: operatorRoute('merchants', 'POST /operator/merchants/{merchantId}/api-keys', {
    again: 'adds another one',
    summary: 'Add an API key, shown once',
    description: 'The key is in this answer only; core stores its hash. Every gateway takes it from this answer on.',
    body: z
      .strictObject({
        managesWebhook: z
          .boolean()
          .describe(`${ApiKey.schema.shape.managesWebhook?.description}; default false`)
          .optional(),
        scopes: z
          .array(z.enum(SCOPES))
          .min(1)
          .max(SCOPES.length)
          .refine((items) => new Set(items).size === items.length, 'must not name anything twice')
          .describe('What it may do; absent = everything but `webhook`, which `managesWebhook` adds')
          .optional(),
        expiresAt: time.describe('When it ends by itself; absent = never').optional(),
        allowedCidrs: z
          .array(z.string().min(1).max(43))
          .min(1)
          .max(mostOf(CreateApiKeyRequestSchema.field.allowedCidrs))
          .describe('Networks from which it may be used, such as 192.0.2.0/24; absent = from anywhere')
          .optional(),
      })
      .meta({ id: 'CreateApiKey' }),
    answers: { 201: { description: 'Created', schema: CreatedApiKey } },
    handler: async ({ core, asOperator, params, body }) => {
      const request = { ...params, managesWebhook: false, ...body };
      const { apiKey: created, key: apiKey } = await core.merchants.createApiKey(request, asOperator);
      return { ...ApiKey.json(created), apiKey };
    },
  }),
  revokeApiKey: operatorRoute('merchants', 'DELETE /operator/merchants/{merchantId}/api-keys/{apiKeyId}', {
    summary: 'End an API key; gateways stop taking it within 5 seconds',
    description: 'Requests with it are answered 401 then. Once more changes nothing.',
    answers: { 204: { description: 'Revoked' } },
    handler: async ({ core, asOperator, params }) => {
      await core.merchants.revokeApiKey(params, asOperator);
    },
  }),
  addSigningSecret: operatorRoute('merchants', 'POST /operator/merchants/{merchantId}/signing-secrets', {
    again: 'adds another one, or is refused while two are live',
    summary: 'Add a second signing secret, shown once',
    description:
      'The older secret makes `X-Service-Signature` until it is retired, by somebody or at `olderExpiresAt`; the relay ' +
      'accepts signatures of both. Refused as INVALID_REQUEST while two are live.',
    body: AddSigningSecret,
    answers: { 201: { description: 'Created', schema: CreatedSigningSecret } },
    handler: async ({ core, asOperator, params, body }) => {
      const request = { ...params, ...body };
      const { signingSecret: added, secret: signingSecret } = await core.merchants.addSigningSecret(
        request,
        asOperator,
      );
      return { ...SigningSecret.json(added), signingSecret };
    },
  }),
  retireSigningSecret: operatorRoute(
    'merchants',
    'DELETE /operator/merchants/{merchantId}/signing-secrets/{signingSecretId}',
    {
      summary: 'End a signing secret; not the last one',
      description:
        'Gateways refuse its signatures within seconds. Once more changes nothing. Refused as INVALID_REQUEST for ' +
        'the last live one.',
      answers: { 204: { description: 'Retired' } },
      handler: async ({ core, asOperator, params }) => {
        await core.merchants.retireSigningSecret(params, asOperator);
      },
    },
  ),
} as const;
