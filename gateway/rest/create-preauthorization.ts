import assert from 'node:assert/strict';
import type { Middleware } from 'koa';
import { OperationState } from '../../proto/gen/holdfast/v1/payment_pb.js';
import type { Core } from '../core.ts';
import { answer, answerInProgress, write } from './answer/answer.ts';
import { checkoutFields, holdJson } from './answer/preauthorization.ts';
import { identityOf } from './authenticate.ts';
import { defined } from './defined.ts';
import { readIdempotencyKey } from './idempotency.ts';
import { readBody } from './read-body.ts';
import { CreatePreauthorizationBody } from './schema/preauthorization.ts';

/** POST /preauthorization: 201 the hold, or where to enter a card; 202 while the outcome is not known. */
export function createPreauthorization(core: Core): Middleware {
  return async (ctx) => {
    const body = await readBody(ctx, CreatePreauthorizationBody);
    const key = readIdempotencyKey(ctx);
    await write(ctx, async (name) => {
      const made = await core.preauthorizations.createPreauthorization({
        ...defined(body),
        ...key,
        ...name,
        amount: BigInt(body.amount),
        merchantId: identityOf(ctx).merchantId,
      });
      const { preauthorization: hold, state, replayed } = made;
      assert(hold, 'core answers with the hold');
      if (state === OperationState.OK) return answer(ctx, 201, holdJson(hold), replayed);
      if (state !== OperationState.PENDING) return answerInProgress(ctx, { requestId: hold.requestId }, replayed);
      const open = { requestId: hold.requestId, status: 'IN_PROGRESS', ...checkoutFields(hold) };
      answer(ctx, 201, open, replayed);
    });
  };
}
