import { z } from 'zod';
import { WRITE } from '../../http/problem-codes.ts';
import { merchantId } from '../fields.ts';
import { operatorRoute } from '../route.ts';
import { apiKey } from './api-keys.ts';
import { contractOf } from './contract.ts';
import { Merchant, merchantJson, merchantTerms } from './merchant.ts';
import { signingSecret } from './signing-secrets.ts';

const CreatedMerchant = z.object({ merchant: Merchant, apiKey, signingSecret }).meta({ id: 'CreatedMerchant' });

export const createMerchant = operatorRoute({
  method: 'post',
  path: '/operator/merchants',
  tag: 'Operators: merchants',
  summary: 'Create a merchant; its API key and signing secret are shown once',
  body: z.strictObject({ merchantId, ...merchantTerms }).meta({ id: 'CreateMerchant' }),
  answers: { 201: { description: 'Created', schema: CreatedMerchant } },
  codes: WRITE,
  handler: async ({ ctx, core, asOperator, body }) => {
    const request = { ...body, contract: contractOf(body.contract) };
    const { merchant, apiKey, signingSecret } = await core.merchants.createMerchant(request, asOperator);
    ctx.status = 201;
    ctx.body = { merchant: merchant && merchantJson(merchant), apiKey, signingSecret };
  },
});
