import assert from 'node:assert/strict';
import { z } from 'zod';
import { OperationState } from '../../../proto/gen/holdfast/v1/payment_pb.js';
import { CAPTURE } from '../../http/problem-codes.ts';
import { requestId } from '../../resource/answer-fields.ts';
import { Capture, captureJson } from '../../resource/capture.ts';
import { some } from '../../resource/from-core.ts';
import { KEYED, REPLAYED, readIdempotencyKey } from '../../resource/idempotency-key.ts';
import { amount } from '../../resource/request-fields.ts';
import { inProgress, WRITE_PROMISES, writeOperation } from '../../resource/write-operation.ts';
import { operatorRoute } from '../route.ts';

export const captureHold = operatorRoute({
  method: 'post',
  path: '/operator/holds/{requestId}/capture',
  tag: 'Operators: holds',
  summary: 'Capture a hold',
  parameters: { requestId },
  headers: KEYED,
  body: z
    .strictObject({
      amountToCapture: amount,
      finalCapture: z.boolean().meta({ description: 'Close the hold with this capture' }).optional(),
    })
    .meta({ id: 'CaptureHold', description: 'Charges a hold in full or in part' }),
  answers: {
    200: { description: 'Captured', schema: Capture, headers: REPLAYED },
    202: inProgress('/operator/operations/{requestId}'),
  },
  codes: CAPTURE,
  promises: WRITE_PROMISES,
  handler: async ({ ctx, core, asOperator, params, body: { amountToCapture, finalCapture = false } }) => {
    const request = { ...readIdempotencyKey(ctx), ...params, amountToCapture: BigInt(amountToCapture), finalCapture };
    await writeOperation(ctx, async (name) => {
      const answer = await core.preauthorizations.capturePreauthorization({ ...request, ...name }, asOperator);
      const { capture, replayed } = answer;
      assert(capture, 'core answers with the capture');
      if (capture.state === OperationState.OK) return { status: 200, body: captureJson(capture), replayed };
      return { inProgress: { requestId: capture.requestId, holdRequestId: some(capture.holdRequestId) }, replayed };
    });
  },
});
