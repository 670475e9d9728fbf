import { z } from 'zod';
import { OperationState } from '../../proto/gen/holdfast/v1/payment_pb.js';
import {
  type CapturePreauthorizationResponse,
  CaptureSchema,
  type Capture as CoreCapture,
  HoldStatus,
} from '../../proto/gen/holdfast/v1/preauthorization_pb.js';
import * as fields from './answer-fields.ts';
import { answered, messageJson, money, processorFields, some, time } from './core-messages.ts';
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
    amountRefunded: fields.money('What refunds gave back of it'),
    createdAt: fields.time('When it was asked for'),
  })
  .meta({ id: 'Capture' });

/** A capture of core's as JSON. */
export const captureJson = messageJson(Capture, CaptureSchema, {
  ...processorFields,
  // A capture closes its hold unasked when the contract allows one capture, and when nothing is left.
  finalCapture: ({ finalCapture, state, preauthorizationStatus }) =>
    finalCapture || (state === OperationState.OK && preauthorizationStatus === HoldStatus.CAPTURED),
  captureDate: ofSuccess(({ captureDate }) => time(captureDate)),
  amountCaptured: ofSuccess(({ amount }) => money(amount)),
  amountRemaining: ofSuccess(({ amountRemaining }) => money(amountRemaining)),
  amountReleased: ofSuccess(({ amountReleased }) => money(amountReleased)),
  bankReference: ofSuccess(({ bankReference }) => some(bankReference)),
  preauthorizationStatus: ofSuccess(({ preauthorizationStatus }) => HoldStatus[preauthorizationStatus]),
});

function ofSuccess<T>(read: (capture: CoreCapture) => T): (capture: CoreCapture) => T | undefined {
  return (capture) => (capture.state === OperationState.OK ? read(capture) : undefined);
}

/** What a request to capture answers. */
export function captureOutcome(response: CapturePreauthorizationResponse): Outcome {
  const { replayed } = response;
  const capture = answered(response.capture);
  if (capture.state === OperationState.OK) return { status: 200, body: captureJson(capture), replayed };
  return { inProgress: { requestId: capture.requestId, holdRequestId: some(capture.holdRequestId) }, replayed };
}
