import { z } from 'zod';
import { OperationState } from '../../proto/gen/holdfast/v1/payment_pb.js';
import {
  type CapturePreauthorizationResponse,
  type Capture as CoreCapture,
  HoldStatus,
} from '../../proto/gen/holdfast/v1/preauthorization_pb.js';
import * as fields from './answer-fields.ts';
import { answered, money, processorFields, some, time } from './core-messages.ts';
import type { Outcome } from './write-operation.ts';

/** A capture. Date, bank reference and amounts are present only when it is OK. */
export const Capture = z
  .object({
    requestId: fields.requestId,
    holdRequestId: fields.requestId,
    status: fields.operationStatus,
    amount: fields.money('Amount of this capture'),
    currency: fields.currency,
    finalCapture: z.boolean().meta({
      description: 'Whether it closed the hold; until it is OK, whether it was asked to. What was left is released',
    }),
    captureDate: fields.time('Proof of completion').optional(),
    amountCaptured: fields.money('Charged by this capture').optional(),
    amountRemaining: fields.money('Left of the hold right after it').optional(),
    amountReleased: fields.money('Given back of the hold right after it').optional(),
    bankReference: fields.bankReference.optional(),
    preauthorizationStatus: fields.holdStatus.optional(),
    reference: fields.reference.optional(),
    ...fields.processorFields,
    reversed: z.boolean().meta({ description: 'Whether the card scheme took all of it back' }),
    amountReversed: fields.money('What the card scheme took back of it and did not give again'),
    createdAt: fields.time('When it was asked for'),
  })
  .meta({ id: 'Capture' });

/** A capture of core's as JSON. */
export function captureJson(capture: CoreCapture) {
  return {
    requestId: capture.requestId,
    holdRequestId: capture.holdRequestId,
    status: OperationState[capture.state],
    amount: money(capture.amount),
    currency: capture.currency,
    finalCapture: capture.finalCapture || closed(capture),
    ...(capture.state === OperationState.OK && successFields(capture)),
    reference: some(capture.processorReference),
    ...processorFields(capture.processorError),
    reversed: capture.reversed,
    amountReversed: money(capture.amountReversed),
    createdAt: time(capture.createdAt),
  };
}

/** What a request to capture answers. */
export function captureOutcome(response: CapturePreauthorizationResponse): Outcome {
  const { replayed } = response;
  const capture = answered(response.capture);
  if (capture.state === OperationState.OK) return { status: 200, body: captureJson(capture), replayed };
  return { inProgress: { requestId: capture.requestId, holdRequestId: some(capture.holdRequestId) }, replayed };
}

/** A capture closes its hold unasked when the contract allows one capture, and when nothing is left. */
function closed({ state, preauthorizationStatus }: CoreCapture): boolean {
  return state === OperationState.OK && preauthorizationStatus === HoldStatus.CAPTURED;
}

function successFields(capture: CoreCapture) {
  return {
    captureDate: time(capture.captureDate),
    amountCaptured: money(capture.amount),
    amountRemaining: money(capture.amountRemaining),
    amountReleased: money(capture.amountReleased),
    bankReference: some(capture.bankReference),
    preauthorizationStatus: HoldStatus[capture.preauthorizationStatus],
  };
}
