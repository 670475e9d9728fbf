import { READ } from '../../http/problem-codes.ts';
import { OperationFilters, OperationPage, operationPage } from '../../resource/operation.ts';
import { amountFilters, merchantId } from '../fields.ts';
import { operatorRoute } from '../route.ts';

export const listOperatorOperations = operatorRoute({
  method: 'get',
  path: '/operator/operations',
  tag: 'Operators: overview',
  summary: 'List final results, newest first',
  description:
    'Of all merchants; filters are joined by AND. What has no result yet is not in it: see `/operator/reviews`.',
  query: OperationFilters.extend({ merchantId: merchantId.optional(), ...amountFilters }),
  answers: { 200: { description: 'A page', schema: OperationPage } },
  codes: READ,
  handler: async ({ ctx, core, asOperator, query }) => {
    ctx.body = await operationPage(core, query, asOperator);
  },
});
