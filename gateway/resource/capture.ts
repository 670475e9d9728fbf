import { OperationState } from '../../proto/gen/holdfast/v1/payment_pb.js';
import {
  type CapturePreauthorizationResponse,
  CaptureSchema,
  type Capture as CoreCapture,
} from '../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { answer } from './answer.ts';
import { answered, money } from './core-messages.ts';
import { type Outcome, outcomeOf } from './write-operation.ts';

export const Capture = answer('Capture', CaptureSchema, {
  own: {
    // Nothing may remain, which is not the same as no result.
    amountRemaining: { read: (capture) => (isOk(capture) ? money(capture.amountRemaining) : undefined) },
    amountReleased: { read: (capture) => (isOk(capture) ? money(capture.amountReleased) : undefined) },
  },
});

function isOk({ state }: CoreCapture): boolean {
  return state === OperationState.OK;
}

/** What a request to capture answers. */
export function captureOutcome({ capture, replayed }: CapturePreauthorizationResponse): Outcome {
  return outcomeOf(answered(capture), replayed, Capture.json);
}
