import { READ } from '../../http/problem-codes.ts';
import { pageJson } from '../../resource/from-core.ts';
import { isRequestId } from '../../resource/identifiers.ts';
import { OperationFilters, OperationPage, operationFilters, operationJson } from '../../resource/operation.ts';
import { amountBounds, amountFilters, merchantId } from '../fields.ts';
import { operatorRoute } from '../route.ts';

export const listOperatorOperations = operatorRoute({
  method: 'get',
  path: '/operator/operations',
  tag: 'Operators: overview',
  summary: 'List final results, newest first',
  query: OperationFilters.extend({ merchantId: merchantId.optional(), ...amountFilters }),
  answers: { 200: { description: 'A page', schema: OperationPage } },
  codes: READ,
  handler: async ({ ctx, core, asOperator, query: { amountFrom, amountTo, ...query } }) => {
    if (query.holdRequestId !== undefined && !isRequestId(query.holdRequestId)) {
      ctx.body = pageJson([], '');
      return;
    }
    const request = { ...operationFilters(query), ...amountBounds({ amountFrom, amountTo }) };
    const page = await core.operations.listOperations(request, asOperator);
    ctx.body = pageJson(page.operations.map(operationJson), page.nextPageToken);
  },
});
