import { z } from 'zod';
import { WRITE } from '../../http/problem-codes.ts';
import { answered } from '../../resource/core-messages.ts';
import { text } from '../../resource/request-fields.ts';
import { merchantId } from '../fields.ts';
import { operatorRoute } from '../route.ts';
import { contractOf, Merchant, merchantJson, merchantTerms } from './merchant.ts';

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
  answers: { 200: { description: 'The merchant as it is now', schema: Merchant } },
  codes: [...WRITE, 'OPERATION_NOT_FOUND', 'PRECONDITION_FAILED', 'RECONCILING'],
  handler: async ({ ctx, core, asOperator, params, body: { contract, ...body } }) => {
    const request = { ...params, ...body, contract: contractOf(contract) };
    const { merchant } = await core.merchants.updateMerchant(request, asOperator);
    ctx.body = merchantJson(answered(merchant));
  },
});
