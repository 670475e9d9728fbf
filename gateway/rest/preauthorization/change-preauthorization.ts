import { z } from 'zod';
import { EXTENSION, INCREMENT, RELEASE } from '../../http/problem-codes.ts';
import * as answers from '../../resource/answer-fields.ts';
import { actOutcome, Increment, incrementOutcome } from '../../resource/hold.ts';
import * as fields from '../../resource/request-fields.ts';
import { createsOperation, writeOperation } from '../../resource/write-operation.ts';
import { restRoute } from '../route.ts';
import { Hold } from './hold.ts';
import { demandOneId, EITHER_ID, namedHold, ONE_ID } from './named-hold.ts';

export const incrementPreauthorization = restRoute({
  ...createsOperation(200, 'Added', Increment, '/operations/{requestId}'),
  path: '/preauthorization/increment',
  tag: 'Holds',
  summary: 'Add to a hold',
  description:
    'What is added can be captured once the increment is OK, not before. While it has no result, the hold can be ' +
    'captured in part, but not closed: refused as CAPTURE_IN_FLIGHT are releases, final captures and a further ' +
    'increment.',
  body: z
    .strictObject({
      merchantId: fields.ownMerchantId,
      preauthorizationId: fields.preauthorizationId,
      amountToAdd: fields.amount,
    })
    .meta({ id: 'IncrementPreauthorization', description: 'Adds to a hold' }),
  codes: INCREMENT,
  handler: ({ ctx, core, merchantId, body }) => {
    const { amountToAdd } = body;
    const request = { ...namedHold(body), amountToAdd, merchantId };
    return writeOperation(ctx, async (name) =>
      incrementOutcome(await core.preauthorizations.incrementPreauthorization({ ...request, ...name }), amountToAdd),
    );
  },
});

const ExtendedHold = Hold.schema
  .extend({
    extensionRequestId: answers.requestId.describe('Names the extension'),
  })
  .meta({ id: 'ExtendedHold' });

export const extendPreauthorization = restRoute({
  ...createsOperation(200, 'The hold with its new `expiresAt`', ExtendedHold, '/operations/{requestId}'),
  path: '/preauthorization/extend',
  tag: 'Holds',
  summary: 'Let a hold end later',
  description:
    "After the contract's hold period from now, or when the processor says, if that is earlier; never earlier than " +
    'before. A hold whose extension has no result at its end does not expire until it has one.',
  body: z
    .strictObject({
      merchantId: fields.ownMerchantId,
      preauthorizationId: fields.preauthorizationId,
    })
    .meta({ id: 'ExtendPreauthorization', description: 'Lets a hold end later' }),
  codes: EXTENSION,
  handler: ({ ctx, core, merchantId, body }) => {
    const request = { ...namedHold(body), merchantId };
    return writeOperation(ctx, async (name) => {
      const extension = await core.preauthorizations.extendPreauthorization({ ...request, ...name });
      return actOutcome(extension, (hold, extensionRequestId) => ({ ...Hold.json(hold), extensionRequestId }));
    });
  },
});

const ReleasePreauthorization = z
  .strictObject(EITHER_ID)
  .superRefine(demandOneId)
  .meta({
    id: 'ReleasePreauthorization',
    description: 'Gives back what remains of a hold, or cancels its checkout',
    ...ONE_ID,
  });

const ReleasedHold = Hold.schema
  .extend({
    releaseRequestId: answers.requestId.describe('Names the release, also of a checkout that was cancelled').optional(),
  })
  .meta({ id: 'ReleasedHold' });

export const releasePreauthorization = restRoute({
  ...createsOperation(200, 'The hold, closed', ReleasedHold, '/operations/{requestId}'),
  path: '/preauthorization/release',
  tag: 'Holds',
  summary: 'Give back what remains of a hold, or cancel its checkout',
  description:
    'By its `preauthorizationId` or its `requestId`, one of the two. Refused as CAPTURE_IN_FLIGHT while a capture ' +
    'or release of it has no result, and as HOLD_FROZEN until an operator has decided about it.',
  body: ReleasePreauthorization,
  codes: RELEASE,
  handler: ({ ctx, core, merchantId, body }) => {
    const request = { ...namedHold(body), merchantId };
    return writeOperation(ctx, async (name) => {
      const release = await core.preauthorizations.releasePreauthorization({ ...request, ...name });
      return actOutcome(release, (hold, releaseRequestId) => ({ ...Hold.json(hold), releaseRequestId }));
    });
  },
});
