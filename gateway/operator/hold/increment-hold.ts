import { z } from 'zod';
import { INCREMENT } from '../../http/problem-codes.ts';
import { requestId } from '../../resource/answer-fields.ts';
import { Increment, incrementOutcome } from '../../resource/hold.ts';
import { KEYED, REPLAYED, readIdempotencyKey } from '../../resource/idempotency-key.ts';
import { amount } from '../../resource/request-fields.ts';
import { inProgress, WRITE_PROMISES, writeOperation } from '../../resource/write-operation.ts';
import { operatorRoute } from '../route.ts';

export const incrementHold = operatorRoute({
  method: 'post',
  path: '/operator/holds/{requestId}/increment',
  tag: 'Operators: holds',
  summary: 'Add to a hold',
  description: "For a merchant, by the hold's `requestId`. What is added can be captured once the increment is OK.",
  parameters: { requestId },
  headers: KEYED,
  body: z.strictObject({ amountToAdd: amount }).meta({ id: 'IncrementHold', description: 'Adds to a hold' }),
  answers: {
    200: { description: 'Added', schema: Increment, headers: REPLAYED },
    202: inProgress('/operator/operations/{requestId}'),
  },
  codes: INCREMENT,
  promises: WRITE_PROMISES,
  handler: async ({ ctx, core, asOperator, params, body: { amountToAdd } }) => {
    const request = { ...readIdempotencyKey(ctx), ...params, amountToAdd };
    await writeOperation(ctx, async (name) => {
      const increment = await core.preauthorizations.incrementPreauthorization({ ...request, ...name }, asOperator);
      return incrementOutcome(increment, amountToAdd);
    });
  },
});
