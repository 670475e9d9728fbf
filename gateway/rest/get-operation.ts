import assert from 'node:assert/strict';
import type { Middleware } from 'koa';
import type { Core } from '../core.ts';
import { operationJson } from './answer/operation.ts';
import { identityOf } from './authenticate.ts';
import { readQuery } from './read-query.ts';
import { readRequestId } from './read-request-id.ts';
import { NoQuery } from './schema/fields.ts';

/** GET /operations/{requestId}: 200 the operation, final or not. */
export function getOperation(core: Core): Middleware {
  return async (ctx) => {
    readQuery(ctx, NoQuery);
    const requestId = readRequestId(ctx, 'OPERATION_NOT_FOUND');
    const { operation } = await core.operations.getOperation({ merchantId: identityOf(ctx).merchantId, requestId });
    assert(operation, 'core answers with the operation');
    ctx.body = operationJson(operation);
  };
}
