import { z } from 'zod';
import { RELEASE } from '../../http/problem-codes.ts';
import * as answers from '../../resource/answer-fields.ts';
import { actOutcome } from '../../resource/hold.ts';
import { REPLAYED } from '../../resource/idempotency-key.ts';
import { CREATES_OPERATION, inProgress, writeOperation } from '../../resource/write-operation.ts';
import { restRoute } from '../route.ts';
import { Hold } from './hold.ts';
import { demandOneId, EITHER_ID, namedHold, ONE_ID } from './named-hold.ts';

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
    releaseRequestId: answers.requestId
      .meta({ description: 'Names the release, also of a checkout that was cancelled' })
      .optional(),
  })
  .meta({ id: 'ReleasedHold' });

export const releasePreauthorization = restRoute({
  ...CREATES_OPERATION,
  path: '/preauthorization/release',
  tag: 'Holds',
  summary: 'Give back what remains of a hold, or cancel its checkout',
  description:
    'By its `preauthorizationId` or its `requestId`, one of the two. Refused as CAPTURE_IN_FLIGHT while a capture ' +
    'or release of it has no result, and as HOLD_FROZEN until an operator has decided about it.',
  body: ReleasePreauthorization,
  answers: {
    200: { description: 'The hold, closed', schema: ReleasedHold, headers: REPLAYED },
    202: inProgress('/operations/{requestId}'),
  },
  codes: RELEASE,
  handler: async ({ ctx, core, merchantId, body }) => {
    const request = { ...namedHold(body), merchantId };
    await writeOperation(ctx, async (name) => {
      const release = await core.preauthorizations.releasePreauthorization({ ...request, ...name });
      return actOutcome(release, (hold, releaseRequestId) => ({ ...Hold.json(hold), releaseRequestId }));
    });
  },
});
