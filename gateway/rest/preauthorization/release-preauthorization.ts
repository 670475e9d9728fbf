import { z } from 'zod';
import { Problem } from '../../http/problem.ts';
import { RELEASE } from '../../http/problem-codes.ts';
import * as answers from '../../resource/answer-fields.ts';
import { actOutcome } from '../../resource/hold.ts';
import { KEYED, REPLAYED, readIdempotencyKey } from '../../resource/idempotency-key.ts';
import { isPreauthorizationId, isRequestId, notPreauthorizationId, notRequestId } from '../../resource/identifiers.ts';
import * as fields from '../../resource/request-fields.ts';
import { inProgress, WRITE_PROMISES, writeOperation } from '../../resource/write-operation.ts';
import { restRoute } from '../route.ts';
import { Hold } from './hold.ts';

const ReleasePreauthorization = z
  .strictObject({
    merchantId: fields.merchantId.optional(),
    preauthorizationId: fields.preauthorizationId.optional(),
    requestId: fields.requestId.optional(),
  })
  .refine((body) => body.preauthorizationId !== undefined || body.requestId !== undefined, {
    path: ['preauthorizationId'],
    error: 'is required, or else requestId: one of the two',
  })
  .refine((body) => body.preauthorizationId === undefined || body.requestId === undefined, {
    path: ['preauthorizationId'],
    error: 'must be left out beside requestId: one of the two',
  })
  .meta({
    id: 'ReleasePreauthorization',
    description: 'Gives back what remains of a hold, or cancels its checkout',
    oneOf: [{ required: ['preauthorizationId'] }, { required: ['requestId'] }],
  });

const ReleasedHold = Hold.schema
  .extend({
    releaseRequestId: answers.requestId
      .meta({ description: 'Names the release, also of a checkout that was cancelled' })
      .optional(),
  })
  .meta({ id: 'ReleasedHold' });

export const releasePreauthorization = restRoute({
  method: 'post',
  path: '/preauthorization/release',
  tag: 'Holds',
  summary: 'Give back what remains of a hold, or cancel its checkout',
  description:
    'By its `preauthorizationId` or its `requestId`, one of the two. Refused as CAPTURE_IN_FLIGHT while a capture ' +
    'or release of it has no result, and as HOLD_FROZEN until an operator has decided about it.',
  headers: KEYED,
  body: ReleasePreauthorization,
  answers: {
    200: { description: 'The hold, closed', schema: ReleasedHold, headers: REPLAYED },
    202: inProgress('/operations/{requestId}'),
  },
  codes: RELEASE,
  promises: WRITE_PROMISES,
  handler: async ({ ctx, core, merchantId, body: { preauthorizationId = '', requestId = '' } }) => {
    const key = readIdempotencyKey(ctx);
    if (!isPreauthorizationId(preauthorizationId) && !isRequestId(requestId)) {
      const detail = notPreauthorizationId(preauthorizationId) ?? notRequestId(requestId);
      throw new Problem('PREAUTHORIZATION_NOT_FOUND', { detail });
    }
    const request = { preauthorizationId, requestId, merchantId, ...key };
    await writeOperation(ctx, async (name) => {
      const release = await core.preauthorizations.releasePreauthorization({ ...request, ...name });
      return actOutcome(release, (hold, releaseRequestId) => ({ ...Hold.json(hold), releaseRequestId }));
    });
  },
});
