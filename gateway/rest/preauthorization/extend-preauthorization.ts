import { z } from 'zod';
import { EXTENSION } from '../../http/problem-codes.ts';
import * as answers from '../../resource/answer-fields.ts';
import { actOutcome } from '../../resource/hold.ts';
import { REPLAYED } from '../../resource/idempotency-key.ts';
import * as fields from '../../resource/request-fields.ts';
import { CREATES_OPERATION, inProgress, writeOperation } from '../../resource/write-operation.ts';
import { restRoute } from '../route.ts';
import { Hold } from './hold.ts';
import { namedHold } from './named-hold.ts';

const ExtendedHold = Hold.schema
  .extend({
    extensionRequestId: answers.requestId.meta({ description: 'Names the extension' }),
  })
  .meta({ id: 'ExtendedHold' });

export const extendPreauthorization = restRoute({
  ...CREATES_OPERATION,
  path: '/preauthorization/extend',
  tag: 'Holds',
  summary: 'Let a hold end later',
  description:
    "After the contract's hold period from now, or when the processor says, if that is earlier; never earlier than " +
    'before. A hold whose extension has no result at its end does not expire until it has one.',
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
  handler: async ({ ctx, core, merchantId, body }) => {
    const request = { ...namedHold(body), merchantId };
    await writeOperation(ctx, async (name) => {
      const extension = await core.preauthorizations.extendPreauthorization({ ...request, ...name });
      return actOutcome(extension, (hold, extensionRequestId) => ({ ...Hold.json(hold), extensionRequestId }));
    });
  },
});
