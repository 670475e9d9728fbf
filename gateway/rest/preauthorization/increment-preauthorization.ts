import { z } from 'zod';
import { Problem } from '../../http/problem.ts';
import { INCREMENT } from '../../http/problem-codes.ts';
import { Increment, incrementOutcome } from '../../resource/hold.ts';
import { KEYED, REPLAYED, readIdempotencyKey } from '../../resource/idempotency-key.ts';
import { isPreauthorizationId, notPreauthorizationId } from '../../resource/identifiers.ts';
import * as fields from '../../resource/request-fields.ts';
import { inProgress, WRITE_PROMISES, writeOperation } from '../../resource/write-operation.ts';
import { restRoute } from '../route.ts';

export const incrementPreauthorization = restRoute({
  method: 'post',
  path: '/preauthorization/increment',
  tag: 'Holds',
  summary: 'Add to a hold',
  description:
    'What is added can be captured once the increment is OK, not before. While it has no result, the hold can be captured ' +
    'in part, but not closed: refused as CAPTURE_IN_FLIGHT are releases, final captures and a further increment.',
  headers: KEYED,
  body: z
    .strictObject({
      merchantId: fields.merchantId.optional(),
      preauthorizationId: fields.preauthorizationId,
      amountToAdd: fields.amount,
    })
    .meta({ id: 'IncrementPreauthorization', description: 'Adds to a hold' }),
  answers: {
    200: { description: 'Added', schema: Increment, headers: REPLAYED },
    202: inProgress('/operations/{requestId}'),
  },
  codes: INCREMENT,
  promises: WRITE_PROMISES,
  handler: async ({ ctx, core, merchantId, body: { preauthorizationId, amountToAdd } }) => {
    const key = readIdempotencyKey(ctx);
    if (!isPreauthorizationId(preauthorizationId)) {
      throw new Problem('PREAUTHORIZATION_NOT_FOUND', { detail: notPreauthorizationId(preauthorizationId) });
    }
    const request = { preauthorizationId, amountToAdd, merchantId, ...key };
    await writeOperation(ctx, async (name) =>
      incrementOutcome(await core.preauthorizations.incrementPreauthorization({ ...request, ...name }), amountToAdd),
    );
  },
});
