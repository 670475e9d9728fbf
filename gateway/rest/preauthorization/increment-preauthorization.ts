import { z } from 'zod';
import { INCREMENT } from '../../http/problem-codes.ts';
import { Increment, incrementOutcome } from '../../resource/hold.ts';
import { REPLAYED } from '../../resource/idempotency-key.ts';
import * as fields from '../../resource/request-fields.ts';
import { CREATES_OPERATION, inProgress, writeOperation } from '../../resource/write-operation.ts';
import { restRoute } from '../route.ts';
import { namedHold } from './named-hold.ts';

export const incrementPreauthorization = restRoute({
  ...CREATES_OPERATION,
  path: '/preauthorization/increment',
  tag: 'Holds',
  summary: 'Add to a hold',
  description:
    'What is added can be captured once the increment is OK, not before. While it has no result, the hold can be ' +
    'captured in part, but not closed: refused as CAPTURE_IN_FLIGHT are releases, final captures and a further ' +
    'increment.',
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
  handler: async ({ ctx, core, merchantId, body }) => {
    const { amountToAdd } = body;
    const request = { ...namedHold(body), amountToAdd, merchantId };
    await writeOperation(ctx, async (name) =>
      incrementOutcome(await core.preauthorizations.incrementPreauthorization({ ...request, ...name }), amountToAdd),
    );
  },
});
