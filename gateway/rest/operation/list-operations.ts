import { READ } from '../../http/problem-codes.ts';
import { OperationFilters, OperationPage, operationPage } from '../../resource/operation.ts';
import { restRoute } from '../route.ts';

export const listOperations = restRoute({
  method: 'get',
  path: '/operations',
  tag: 'Operations',
  summary: 'List final results, newest first',
  description: 'Filters are joined by AND.',
  query: OperationFilters,
  answers: { 200: { description: 'A page', schema: OperationPage } },
  codes: READ,
  handler: async ({ ctx, core, merchantId, query }) => {
    ctx.body = await operationPage(core, { ...query, merchantId });
  },
});
