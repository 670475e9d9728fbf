import { z } from 'zod';
import { READ } from '../../http/problem-codes.ts';
import { pageOf } from '../../resource/answer-fields.ts';
import { pageJson } from '../../resource/core-messages.ts';
import { page } from '../../resource/request-fields.ts';
import { operatorRoute } from '../route.ts';
import { Merchant, merchantJson } from './merchant.ts';

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
      schema: pageOf(Merchant).meta({ id: 'MerchantPage', description: 'By merchantId' }),
    },
  },
  codes: READ,
  handler: async ({ ctx, core, asOperator, query }) => {
    const { merchants, nextPageToken } = await core.merchants.listMerchants(query, asOperator);
    ctx.body = pageJson(merchants.map(merchantJson), nextPageToken);
  },
});
