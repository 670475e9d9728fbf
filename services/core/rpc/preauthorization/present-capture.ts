import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { HoldStatus } from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { amountReversedOf } from '../../domain/hold.ts';
import type { CaptureRow } from '../../storage/capture/capture.ts';
import { presentAnswer, time } from '../present.ts';

/** A capture as callers see it. */
export function presentCapture(capture: CaptureRow) {
  return {
    requestId: capture.requestId,
    holdRequestId: capture.holdRequestId,
    state: OperationState[capture.state],
    amount: capture.amount,
    currency: capture.currency,
    finalCapture: capture.finalCapture,
    ...time('captureDate', capture.captureDate),
    ...(capture.bankReference != null && { bankReference: capture.bankReference }),
    ...(capture.remainingAfter != null && { amountRemaining: capture.remainingAfter }),
    ...(capture.releasedAfter != null && { amountReleased: capture.releasedAfter }),
    ...(capture.statusAfter != null && { preauthorizationStatus: HoldStatus[capture.statusAfter] }),
    ...presentAnswer(capture),
    ...time('createdAt', capture.createdAt),
    reversed: capture.reversed,
    amountReversed: amountReversedOf(capture),
  };
}
