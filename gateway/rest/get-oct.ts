import assert from 'node:assert/strict';
import type { Middleware } from 'koa';
import type { Core } from '../core.ts';
import { octJson } from './answer/oct.ts';
import { identityOf } from './authenticate.ts';
import { readQuery } from './read-query.ts';
import { readRequestId } from './read-request-id.ts';
import { NoQuery } from './schema/fields.ts';

/** GET /oct/{requestId}: 200 the OCT, final or not. */
export function getOct(core: Core): Middleware {
  return async (ctx) => {
    readQuery(ctx, NoQuery);
    const requestId = readRequestId(ctx, 'OPERATION_NOT_FOUND');
    const { oct } = await core.octs.getOct({ merchantId: identityOf(ctx).merchantId, requestId });
    assert(oct, 'core answers with the OCT');
    ctx.body = octJson(oct);
  };
}
