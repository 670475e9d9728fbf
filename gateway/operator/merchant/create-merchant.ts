import { z } from 'zod';
import { WRITE } from '../../http/problem-codes.ts';
import { answered } from '../../resource/core-messages.ts';
import { signingSecret } from '../../resource/signing-secret.ts';
import { merchantId } from '../fields.ts';
import { operatorRoute } from '../route.ts';
import { apiKey } from './api-keys.ts';
import { contractOf, Merchant, merchantJson, merchantTerms } from './merchant.ts';

const CreatedMerchant = z.object({ merchant: Merchant, apiKey, signingSecret }).meta({ id: 'CreatedMerchant' });

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
    ctx.body = { merchant: merchantJson(answered(merchant)), apiKey, signingSecret };
  },
});
