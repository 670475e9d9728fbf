import { z } from 'zod';
import { Problem } from '../../http/problem.ts';
import { EXTENSION } from '../../http/problem-codes.ts';
import * as answers from '../../resource/answer-fields.ts';
import { actOutcome } from '../../resource/hold.ts';
import { KEYED, REPLAYED, readIdempotencyKey } from '../../resource/idempotency-key.ts';
import { isPreauthorizationId, notPreauthorizationId } from '../../resource/identifiers.ts';
import * as fields from '../../resource/request-fields.ts';
import { inProgress, WRITE_PROMISES, writeOperation } from '../../resource/write-operation.ts';
import { restRoute } from '../route.ts';
import { Hold } from './hold.ts';

const ExtendedHold = Hold.schema
  .extend({
    extensionRequestId: answers.requestId.meta({ description: 'Names the extension' }),
  })
  .meta({ id: 'ExtendedHold' });

export const extendPreauthorization = restRoute({
  method: 'post',
  path: '/preauthorization/extend',
  tag: 'Holds',
  summary: 'Let a hold end later',
  description:
    "After the contract's hold period from now, or when the processor says, if that is earlier; never earlier than " +
    'before. A hold whose extension has no result at its end does not expire until it has one.',
  headers: KEYED,
  body: z
    .strictObject({
      merchantId: fields.merchantId.optional(),
      preauthorizationId: fields.preauthorizationId,
    })
    .meta({ id: 'ExtendPreauthorization', description: 'Lets a hold end later' }),
  answers: {
    200: { description: 'The hold with its new `expiresAt`', schema: ExtendedHold, headers: REPLAYED },
    202: inProgress('/operations/{requestId}'),
  },
  codes: EXTENSION,
  promises: WRITE_PROMISES,
  handler: async ({ ctx, core, merchantId, body: { preauthorizationId } }) => {
    const key = readIdempotencyKey(ctx);
    if (!isPreauthorizationId(preauthorizationId)) {
      throw new Problem('PREAUTHORIZATION_NOT_FOUND', { detail: notPreauthorizationId(preauthorizationId) });
    }
    const request = { preauthorizationId, merchantId, ...key };
    await writeOperation(ctx, async (name) => {
      const extension = await core.preauthorizations.extendPreauthorization({ ...request, ...name });
      return actOutcome(extension, (hold, extensionRequestId) => ({ ...Hold.json(hold), extensionRequestId }));
    });
  },
});
