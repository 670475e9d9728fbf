import assert from 'node:assert/strict';
import type { Middleware } from 'koa';
import type { Core } from '../core.ts';
import { captureJson, holdJson } from './answer/preauthorization.ts';
import { identityOf } from './authenticate.ts';
import { readQuery } from './read-query.ts';
import { readRequestId } from './read-request-id.ts';
import { NoQuery } from './schema/fields.ts';

/** GET /preauthorization/{requestId}: 200 the hold with its captures, oldest first. */
export function getPreauthorization(core: Core): Middleware {
  return async (ctx) => {
    readQuery(ctx, NoQuery);
    const requestId = readRequestId(ctx, 'PREAUTHORIZATION_NOT_FOUND');
    const { merchantId } = identityOf(ctx);
    const { preauthorization: hold } = await core.preauthorizations.getPreauthorization({ merchantId, requestId });
    assert(hold, 'core answers with the hold');
    ctx.body = { ...holdJson(hold), captures: hold.captures.map(captureJson) };
  };
}
