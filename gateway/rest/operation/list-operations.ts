import { READ } from '../../http/problem-codes.ts';
import { pageJson } from '../../resource/from-core.ts';
import { isRequestId } from '../../resource/identifiers.ts';
import { OperationFilters, OperationPage, operationFilters, operationJson } from '../../resource/operation.ts';
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
    if (query.holdRequestId !== undefined && !isRequestId(query.holdRequestId)) {
      ctx.body = pageJson([], '');
      return;
    }
    const page = await core.operations.listOperations({ ...operationFilters(query), merchantId });
    ctx.body = pageJson(page.operations.map(operationJson), page.nextPageToken);
  },
});
