import type { Middleware } from 'koa';
import { OperationKind } from '../../proto/gen/holdfast/v1/operation_pb.js';
import { OperationState } from '../../proto/gen/holdfast/v1/payment_pb.js';
import type { Core } from '../core.ts';
import { operationJson } from './answer/operation.ts';
import { some } from './answer/words.ts';
import { identityOf } from './authenticate.ts';
import { defined } from './defined.ts';
import { readQuery } from './read-query.ts';
import { isRequestId } from './read-request-id.ts';
import { ListOperationsQuery } from './schema/operation.ts';
import { timestampOf } from './timestamp.ts';

/** GET /operations: 200 a page of final results, newest first. */
export function listOperations(core: Core): Middleware {
  return async (ctx) => {
    const { operation, status, finalFrom, finalTo, pageSize, ...filters } = readQuery(ctx, ListOperationsQuery);
    if (filters.holdRequestId !== undefined && !isRequestId(filters.holdRequestId)) {
      ctx.body = { items: [] };
      return;
    }
    const page = await core.operations.listOperations({
      ...defined({
        ...filters,
        kind: operation && OperationKind[operation],
        state: status && OperationState[status],
        finalFrom: timestampOf(finalFrom),
        finalTo: timestampOf(finalTo),
        pageSize: Number(pageSize ?? 0),
      }),
      merchantId: identityOf(ctx).merchantId,
    });
    ctx.body = { items: page.operations.map(operationJson), nextPageToken: some(page.nextPageToken) };
  };
}
