import assert from 'node:assert/strict';
import type { Middleware } from 'koa';
import { OperationState } from '../../proto/gen/holdfast/v1/payment_pb.js';
import type { Core } from '../core.ts';
import { answer, answerInProgress, write } from './answer/answer.ts';
import { octJson } from './answer/oct.ts';
import { identityOf } from './authenticate.ts';
import { defined } from './defined.ts';
import { readIdempotencyKey } from './idempotency.ts';
import { readBody } from './read-body.ts';
import { CreateOctBody } from './schema/oct.ts';

/** POST /oct: 201 the OCT; 202 while the outcome is not known. */
export function createOct(core: Core): Middleware {
  return async (ctx) => {
    const body = await readBody(ctx, CreateOctBody);
    const key = readIdempotencyKey(ctx);
    await write(ctx, async (name) => {
      const { oct, replayed } = await core.octs.createOct({
        ...defined(body),
        ...key,
        ...name,
        amount: BigInt(body.amount),
        merchantId: identityOf(ctx).merchantId,
      });
      assert(oct, 'core answers with the OCT');
      if (oct.state === OperationState.OK) return answer(ctx, 201, octJson(oct), replayed);
      answerInProgress(ctx, { requestId: oct.requestId }, replayed);
    });
  };
}
