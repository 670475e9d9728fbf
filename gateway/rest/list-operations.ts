import type { Middleware } from 'koa';
import type { Core } from '../core.ts';
import { operationJson } from './answer/operation.ts';
import { some } from './answer/words.ts';
import { identityOf } from './authenticate.ts';
import { operationFilters } from './filters.ts';
import { readQuery } from './read-query.ts';
import { isRequestId } from './read-request-id.ts';
import { ListOperationsQuery } from './schema/operation.ts';

/** GET /operations: 200 a page of final results, newest first. */
export function listOperations(core: Core): Middleware {
  return async (ctx) => {
    const query = readQuery(ctx, ListOperationsQuery);
    if (query.holdRequestId !== undefined && !isRequestId(query.holdRequestId)) {
      ctx.body = { items: [] };
      return;
    }
    const request = { ...operationFilters(query), merchantId: identityOf(ctx).merchantId };
    const page = await core.operations.listOperations(request);
    ctx.body = { items: page.operations.map(operationJson), nextPageToken: some(page.nextPageToken) };
  };
}
