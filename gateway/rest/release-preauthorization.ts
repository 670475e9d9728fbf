import assert from 'node:assert/strict';
import type { Middleware } from 'koa';
import { OperationState } from '../../proto/gen/holdfast/v1/payment_pb.js';
import type { Core } from '../core.ts';
import { Problem } from '../problem.ts';
import { answer, answerInProgress, write } from './answer/answer.ts';
import { holdJson } from './answer/preauthorization.ts';
import { some } from './answer/words.ts';
import { identityOf } from './authenticate.ts';
import { readIdempotencyKey } from './idempotency.ts';
import { readBody } from './read-body.ts';
import { isPreauthorizationId, isRequestId } from './read-request-id.ts';
import { ReleasePreauthorizationBody } from './schema/preauthorization.ts';

/** POST /preauthorization/release: 200 the hold, with the release's own requestId beside it; 202 while not known. */
export function releasePreauthorization(core: Core): Middleware {
  return async (ctx) => {
    const { preauthorizationId = '', requestId = '' } = await readBody(ctx, ReleasePreauthorizationBody);
    const idempotencyKey = readIdempotencyKey(ctx);
    if (!isPreauthorizationId(preauthorizationId) && !isRequestId(requestId)) {
      throw new Problem('PREAUTHORIZATION_NOT_FOUND');
    }
    await write(ctx, async (name) => {
      const release = await core.preauthorizations.releasePreauthorization({
        ...idempotencyKey,
        ...name,
        merchantId: identityOf(ctx).merchantId,
        preauthorizationId,
        requestId,
      });
      const hold = release.preauthorization;
      assert(hold, 'core answers with the hold');
      if (release.state === OperationState.OK) {
        const body = { ...holdJson(hold), releaseRequestId: some(release.requestId) };
        return answer(ctx, 200, body, release.replayed);
      }
      answerInProgress(ctx, { requestId: release.requestId, holdRequestId: hold.requestId }, release.replayed);
    });
  };
}
