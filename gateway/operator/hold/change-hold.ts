/** What operators do to a hold for its merchant, by its requestId. */
import { z } from 'zod';
import { CAPTURE, EXTENSION, INCREMENT, RELEASE } from '../../http/problem-codes.ts';
import { requestId } from '../../resource/answer-fields.ts';
import { Capture, captureOutcome } from '../../resource/capture.ts';
import { actOutcome, Increment, incrementOutcome } from '../../resource/hold.ts';
import { REPLAYED } from '../../resource/idempotency-key.ts';
import { amount, NoBody } from '../../resource/request-fields.ts';
import { CREATES_OPERATION, inProgress, writeOperation } from '../../resource/write-operation.ts';
import { operatorRoute } from '../route.ts';
import { OperatorHold } from './operator-hold.ts';

const common = { ...CREATES_OPERATION, tag: 'Operators: holds', parameters: { requestId } };

const IN_PROGRESS = inProgress('/operator/operations/{requestId}');

export const captureHold = operatorRoute({
  ...common,
  path: '/operator/holds/{requestId}/capture',
  summary: 'Capture a hold',
  description:
    "For a merchant, by the hold's `requestId` and without a message signature. Unless the contract has " +
    '`allowMultipleCaptures: true`, the first capture closes the hold and releases what is left.',
  body: z
    .strictObject({
      amountToCapture: amount,
      finalCapture: z.boolean().meta({ description: 'Close the hold with this capture' }).optional(),
    })
    .meta({ id: 'CaptureHold', description: 'Charges a hold in full or in part' }),
  answers: {
    200: { description: 'Captured', schema: Capture.schema, headers: REPLAYED },
    202: IN_PROGRESS,
  },
  codes: CAPTURE,
  handler: async ({ ctx, core, asOperator, params, body: { amountToCapture, finalCapture = false } }) => {
    const request = { ...params, amountToCapture, finalCapture };
    await writeOperation(ctx, async (name) =>
      captureOutcome(await core.preauthorizations.capturePreauthorization({ ...request, ...name }, asOperator)),
    );
  },
});

export const incrementHold = operatorRoute({
  ...common,
  path: '/operator/holds/{requestId}/increment',
  summary: 'Add to a hold',
  description: "For a merchant, by the hold's `requestId`. What is added can be captured once the increment is OK.",
  body: z.strictObject({ amountToAdd: amount }).meta({ id: 'IncrementHold', description: 'Adds to a hold' }),
  answers: {
    200: { description: 'Added', schema: Increment, headers: REPLAYED },
    202: IN_PROGRESS,
  },
  codes: INCREMENT,
  handler: async ({ ctx, core, asOperator, params, body: { amountToAdd } }) => {
    const request = { ...params, amountToAdd };
    await writeOperation(ctx, async (name) => {
      const increment = await core.preauthorizations.incrementPreauthorization({ ...request, ...name }, asOperator);
      return incrementOutcome(increment, amountToAdd);
    });
  },
});

const OperatorExtendedHold = OperatorHold.schema
  .extend({ extensionRequestId: requestId.meta({ description: 'Names the extension' }) })
  .meta({ id: 'OperatorExtendedHold' });

export const extendHold = operatorRoute({
  ...common,
  path: '/operator/holds/{requestId}/extend',
  summary: 'Let a hold end later',
  description:
    "For a merchant: after the contract's hold period from now, or when the processor says, if that is earlier; " +
    'never ' +
    'earlier than before.',
  body: NoBody,
  answers: {
    200: { description: 'The hold with its new `expiresAt`', schema: OperatorExtendedHold, headers: REPLAYED },
    202: IN_PROGRESS,
  },
  codes: EXTENSION,
  handler: async ({ ctx, core, asOperator, params }) => {
    await writeOperation(ctx, async (name) => {
      const extension = await core.preauthorizations.extendPreauthorization({ ...params, ...name }, asOperator);
      return actOutcome(extension, (hold, extensionRequestId) => ({ ...OperatorHold.json(hold), extensionRequestId }));
    });
  },
});

const OperatorReleasedHold = OperatorHold.schema
  .extend({ releaseRequestId: requestId.meta({ description: 'Names the release' }).optional() })
  .meta({ id: 'OperatorReleasedHold' });

export const releaseHold = operatorRoute({
  ...common,
  path: '/operator/holds/{requestId}/release',
  summary: 'Give back what remains of a hold, or cancel its checkout',
  description:
    'A placed hold is released at the processor; one whose customer has not entered a card loses its checkout. ' +
    'Refused as CAPTURE_IN_FLIGHT while a capture or release of it has no result, and as HOLD_FROZEN while it is ' +
    'frozen.',
  body: NoBody,
  answers: {
    200: { description: 'Released', schema: OperatorReleasedHold, headers: REPLAYED },
    202: IN_PROGRESS,
  },
  codes: RELEASE,
  handler: async ({ ctx, core, asOperator, params }) => {
    await writeOperation(ctx, async (name) => {
      const release = await core.preauthorizations.releasePreauthorization({ ...params, ...name }, asOperator);
      return actOutcome(release, (hold, releaseRequestId) => ({ ...OperatorHold.json(hold), releaseRequestId }));
    });
  },
});
