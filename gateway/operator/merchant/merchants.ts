import { z } from 'zod';
import { READ, WRITE } from '../../http/problem-codes.ts';
import { pageOf } from '../../resource/answer.ts';
import { contractOf } from '../../resource/contract.ts';
import { answered } from '../../resource/core-messages.ts';
import { page, text } from '../../resource/request-fields.ts';
import { signingSecret } from '../../resource/signing-secret.ts';
import { merchantId } from '../fields.ts';
import { operatorRoute } from '../route.ts';
import { apiKey } from './api-keys.ts';
import { Merchant, merchantTerms } from './merchant.ts';

const MerchantPage = pageOf('MerchantPage', 'By merchantId', Merchant);

export const listMerchants = operatorRoute({
  method: 'get',
  path: '/operator/merchants',
  tag: 'Operators: merchants',
  summary: 'List merchants',
  description: 'By `merchantId`, each as its own route shows it.',
  query: z.strictObject(page),
  answers: {
    200: {
      description: 'A page',
      schema: MerchantPage.schema,
    },
  },
  codes: READ,
  handler: async ({ ctx, core, asOperator, query }) => {
    const { merchants, nextPageToken } = await core.merchants.listMerchants(query, asOperator);
    ctx.body = MerchantPage.json(merchants, nextPageToken);
  },
});

const CreatedMerchant = z.object({ merchant: Merchant.schema, apiKey, signingSecret }).meta({ id: 'CreatedMerchant' });

export const createMerchant = operatorRoute({
  method: 'post',
  path: '/operator/merchants',
  tag: 'Operators: merchants',
  summary: 'Create a merchant; its API key and signing secret are shown once',
  description:
    'Both are in this answer only. Refused as INVALID_REQUEST when the name is taken, or when an address of the ' +
    'contract could never be delivered to.',
  body: z
    .strictObject({
      merchantId,
      ...merchantTerms,
      apiKeyManagesWebhook: z
        .boolean()
        .meta({ description: "The first API key's managesWebhook; default false" })
        .optional(),
    })
    .meta({ id: 'CreateMerchant' }),
  answers: { 201: { description: 'Created', schema: CreatedMerchant } },
  codes: WRITE,
  handler: async ({ ctx, core, asOperator, body: { apiKeyManagesWebhook = false, ...body } }) => {
    const request = { ...body, apiKeyManagesWebhook, contract: contractOf(body.contract) };
    const { merchant, apiKey, signingSecret } = await core.merchants.createMerchant(request, asOperator);
    ctx.status = 201;
    ctx.body = { merchant: Merchant.json(answered(merchant)), apiKey, signingSecret };
  },
});

export const getMerchant = operatorRoute({
  method: 'get',
  path: '/operator/merchants/{merchantId}',
  tag: 'Operators: merchants',
  summary: 'Look up a merchant',
  description:
    'The contract, with keys and secrets by their ids. `warnings` name what is accepted and may not work, such as ' +
    'an address that workers may not reach.',
  parameters: { merchantId },
  answers: { 200: { description: 'The merchant', schema: Merchant.schema } },
  codes: [...READ, 'OPERATION_NOT_FOUND', 'RECONCILING'],
  handler: async ({ ctx, core, asOperator, params }) => {
    const { merchant } = await core.merchants.getMerchant(params, asOperator);
    ctx.body = Merchant.json(answered(merchant));
  },
});

export const updateMerchant = operatorRoute({
  method: 'put',
  path: '/operator/merchants/{merchantId}',
  tag: 'Operators: merchants',
  summary: 'Replace name and contract; holds placed before keep their terms',
  description:
    'A field that is left out gets its default, not its old value. With the `etag` that was read, refused as ' +
    'PRECONDITION_FAILED when the merchant was changed since, also by itself. Refused as INVALID_REQUEST as when a ' +
    'merchant is created.',
  parameters: { merchantId },
  body: z
    .strictObject({
      ...merchantTerms,
      etag: text(64)
        .meta({ description: 'As it was read; without it, whatever the merchant is now is replaced', examples: ['42'] })
        .optional(),
    })
    .meta({ id: 'UpdateMerchant' }),
  answers: { 200: { description: 'The merchant as it is now', schema: Merchant.schema } },
  codes: [...WRITE, 'OPERATION_NOT_FOUND', 'PRECONDITION_FAILED', 'RECONCILING'],
  handler: async ({ ctx, core, asOperator, params, body: { contract, ...body } }) => {
    const request = { ...params, ...body, contract: contractOf(contract) };
    const { merchant } = await core.merchants.updateMerchant(request, asOperator);
    ctx.body = Merchant.json(answered(merchant));
  },
});
