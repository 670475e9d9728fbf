import { READ } from '../../http/problem-codes.ts';
import { answered } from '../../resource/core-messages.ts';
import { merchantId } from '../fields.ts';
import { operatorRoute } from '../route.ts';
import { Merchant, merchantJson } from './merchant.ts';

export const getMerchant = operatorRoute({
  method: 'get',
  path: '/operator/merchants/{merchantId}',
  tag: 'Operators: merchants',
  summary: 'Look up a merchant',
  description:
    'The contract, with keys and secrets by their ids. `warnings` name what is accepted and may not work, such as ' +
    'an address that workers may not reach.',
  parameters: { merchantId },
  answers: { 200: { description: 'The merchant', schema: Merchant } },
  codes: [...READ, 'OPERATION_NOT_FOUND', 'RECONCILING'],
  handler: async ({ ctx, core, asOperator, params }) => {
    const { merchant } = await core.merchants.getMerchant(params, asOperator);
    ctx.body = merchantJson(answered(merchant));
  },
});
