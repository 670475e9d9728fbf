import { z } from 'zod';
import { CAPTURE } from '../../http/problem-codes.ts';
import { requestId } from '../../resource/answer-fields.ts';
import { Capture, captureOutcome } from '../../resource/capture.ts';
import { KEYED, REPLAYED, readIdempotencyKey } from '../../resource/idempotency-key.ts';
import { amount } from '../../resource/request-fields.ts';
import { inProgress, WRITE_PROMISES, writeOperation } from '../../resource/write-operation.ts';
import { operatorRoute } from '../route.ts';

export const captureHold = operatorRoute({
  method: 'post',
  path: '/operator/holds/{requestId}/capture',
  tag: 'Operators: holds',
  summary: 'Capture a hold',
  description:
    "For a merchant, by the hold's `requestId` and without a message signature. Unless the contract has " +
    '`allowMultipleCaptures: true`, the first capture closes the hold and releases what is left.',
  parameters: { requestId },
  headers: KEYED,
  body: z
    .strictObject({
      amountToCapture: amount,
      finalCapture: z.boolean().meta({ description: 'Close the hold with this capture' }).optional(),
    })
    .meta({ id: 'CaptureHold', description: 'Charges a hold in full or in part' }),
  answers: {
    200: { description: 'Captured', schema: Capture.schema, headers: REPLAYED },
    202: inProgress('/operator/operations/{requestId}'),
  },
  codes: CAPTURE,
  promises: WRITE_PROMISES,
  handler: async ({ ctx, core, asOperator, params, body: { amountToCapture, finalCapture = false } }) => {
    const request = { ...readIdempotencyKey(ctx), ...params, amountToCapture, finalCapture };
    await writeOperation(ctx, async (name) =>
      captureOutcome(await core.preauthorizations.capturePreauthorization({ ...request, ...name }, asOperator)),
    );
  },
});
