import assert from 'node:assert/strict';
import type { Middleware } from 'koa';
import { OperationState } from '../../proto/gen/holdfast/v1/payment_pb.js';
import type { Core } from '../core.ts';
import type { Credentials } from '../credentials.ts';
import { Problem } from '../problem.ts';
import { answer, answerInProgress, write } from './answer/answer.ts';
import { captureJson } from './answer/preauthorization.ts';
import { some } from './answer/words.ts';
import { identityOf } from './authenticate.ts';
import { readIdempotencyKey } from './idempotency.ts';
import { parseBody, readJsonBytes } from './read-body.ts';
import { isPreauthorizationId } from './read-request-id.ts';
import { CapturePreauthorizationBody } from './schema/preauthorization.ts';
import { demandSignature } from './signed-captures/demand-signature.ts';

/** POST /preauthorization/authorization: 200 the capture; 202 while the outcome is not known. */
export function capturePreauthorization(core: Core, credentials: Credentials): Middleware {
  return async (ctx) => {
    const bytes = await readJsonBytes(ctx);
    await demandSignature(ctx, bytes, { credentials, merchants: core.merchants });
    const body = parseBody(ctx, bytes, CapturePreauthorizationBody);
    const idempotencyKey = readIdempotencyKey(ctx);
    if (!isPreauthorizationId(body.preauthorizationId)) throw new Problem('PREAUTHORIZATION_NOT_FOUND');
    await write(ctx, async (name) => {
      const { capture, replayed } = await core.preauthorizations.capturePreauthorization({
        ...idempotencyKey,
        ...name,
        merchantId: identityOf(ctx).merchantId,
        preauthorizationId: body.preauthorizationId,
        amountToCapture: BigInt(body.amountToCapture),
        finalCapture: body.finalCapture ?? false,
      });
      assert(capture, 'core answers with the capture');
      if (capture.state === OperationState.OK) return answer(ctx, 200, captureJson(capture), replayed);
      const { requestId, holdRequestId } = capture;
      answerInProgress(ctx, { requestId, holdRequestId: some(holdRequestId) }, replayed);
    });
  };
}
