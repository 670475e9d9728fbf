/** What operators do to a hold or a capture for its merchant, by its requestId. */
import { z } from 'zod';
import { CAPTURE, EXTENSION, INCREMENT, REFUND, RELEASE } from '../../http/problem-codes.ts';
import { requestId } from '../../resource/answer-fields.ts';
import { Capture, captureOutcome } from '../../resource/capture.ts';
import { defined } from '../../resource/core-messages.ts';
import { actOutcome, Increment, incrementOutcome } from '../../resource/hold.ts';
import { Refund, refundOutcome } from '../../resource/refund.ts';
import { amount, NoBody } from '../../resource/request-fields.ts';
import { createsOperation, writeOperation } from '../../resource/write-operation.ts';
import { operatorRoute } from '../route.ts';
import { OperatorHold } from './holds.ts';

const common = { tag: 'Operators: holds', parameters: { requestId } };

const LOOK_UP = '/operator/operations/{requestId}';

export const captureHold = operatorRoute({
  ...common,
  ...createsOperation(200, 'Captured', Capture.schema, LOOK_UP),
  path: '/operator/holds/{requestId}/capture',
  summary: 'Capture a hold',
  description:
    "For a merchant, by the hold's `requestId` and without a message signature. Unless the contract has " +
    '`allowMultipleCaptures: true`, the first capture closes the hold and releases what is left.',
  body: z
    .strictObject({
      amountToCapture: amount,
      finalCapture: z.boolean().describe('Close the hold with this capture').optional(),
    })
    .meta({ id: 'CaptureHold', description: 'Charges a hold in full or in part' }),
  codes: CAPTURE,
  handler: ({ ctx, core, asOperator, params, body: { amountToCapture, finalCapture = false } }) => {
    const request = { ...params, amountToCapture, finalCapture };
    return writeOperation(ctx, async (name) =>
      captureOutcome(await core.preauthorizations.capturePreauthorization({ ...request, ...name }, asOperator)),
    );
  },
});

export const incrementHold = operatorRoute({
  ...common,
  ...createsOperation(200, 'Added', Increment, LOOK_UP),
  path: '/operator/holds/{requestId}/increment',
  summary: 'Add to a hold',
  description: "For a merchant, by the hold's `requestId`. What is added can be captured once the increment is OK.",
  body: z.strictObject({ amountToAdd: amount }).meta({ id: 'IncrementHold', description: 'Adds to a hold' }),
  codes: INCREMENT,
  handler: ({ ctx, core, asOperator, params, body: { amountToAdd } }) => {
    const request = { ...params, amountToAdd };
    return writeOperation(ctx, async (name) => {
      const increment = await core.preauthorizations.incrementPreauthorization({ ...request, ...name }, asOperator);
      return incrementOutcome(increment, amountToAdd);
    });
  },
});

const OperatorExtendedHold = OperatorHold.schema
  .extend({ extensionRequestId: requestId.describe('Names the extension') })
  .meta({ id: 'OperatorExtendedHold' });

export const extendHold = operatorRoute({
  ...common,
  ...createsOperation(200, 'The hold with its new `expiresAt`', OperatorExtendedHold, LOOK_UP),
  path: '/operator/holds/{requestId}/extend',
  summary: 'Let a hold end later',
  description:
    "For a merchant: after the contract's hold period from now, or when the processor says, if that is earlier; " +
    'never earlier than before.',
  body: NoBody,
  codes: EXTENSION,
  handler: ({ ctx, core, asOperator, params }) =>
    writeOperation(ctx, async (name) => {
      const extension = await core.preauthorizations.extendPreauthorization({ ...params, ...name }, asOperator);
      return actOutcome(extension, (hold, extensionRequestId) => ({ ...OperatorHold.json(hold), extensionRequestId }));
    }),
});

const OperatorReleasedHold = OperatorHold.schema
  .extend({ releaseRequestId: requestId.describe('Names the release').optional() })
  .meta({ id: 'OperatorReleasedHold' });

export const releaseHold = operatorRoute({
  ...common,
  ...createsOperation(200, 'Released', OperatorReleasedHold, LOOK_UP),
  path: '/operator/holds/{requestId}/release',
  summary: 'Give back what remains of a hold, or cancel its checkout',
  description:
    'A placed hold is released at the processor; one whose customer has not entered a card loses its checkout. ' +
    'Refused as CAPTURE_IN_FLIGHT while a capture or release of it has no result, and as HOLD_FROZEN while it is ' +
    'frozen.',
  body: NoBody,
  codes: RELEASE,
  handler: ({ ctx, core, asOperator, params }) =>
    writeOperation(ctx, async (name) => {
      const release = await core.preauthorizations.releasePreauthorization({ ...params, ...name }, asOperator);
      return actOutcome(release, (hold, releaseRequestId) => ({ ...OperatorHold.json(hold), releaseRequestId }));
    }),
});

export const refundCapture = operatorRoute({
  ...common,
  ...createsOperation(201, 'Refunded', Refund.schema, LOOK_UP),
  path: '/operator/captures/{requestId}/refund',
  summary: 'Give a capture, or a part of it, back to the card',
  description:
    "For a merchant, by the capture's `requestId`. A capture can be refunded several times, until nothing of it is " +
    'left, also when its hold is closed.',
  body: z
    .strictObject({
      amount: amount.optional().describe('In minor units; without it, all that is left of the capture'),
    })
    .meta({ id: 'RefundCapture', description: 'Gives a capture, or a part of it, back to the card' }),
  codes: REFUND,
  handler: ({ ctx, core, asOperator, params: { requestId: captureRequestId }, body }) => {
    const request = { ...body, captureRequestId };
    return writeOperation(ctx, async (name) =>
      refundOutcome(await core.refunds.createRefund(defined({ ...request, ...name }), asOperator)),
    );
  },
});
