import { z } from 'zod';
import { OperationState } from '../../../proto/gen/holdfast/v1/payment_pb.js';
import { KEYED_WRITE, PROCESSOR } from '../../http/problem-codes.ts';
import { answered, defined } from '../../resource/core-messages.ts';
import * as fields from '../../resource/request-fields.ts';
import { createsOperation, writeOperation } from '../../resource/write-operation.ts';
import { restRoute } from '../route.ts';
import { Hold } from './hold.ts';
import { demandOneId, EITHER_ID, namedHold, ONE_ID } from './named-hold.ts';

const RenewPreauthorization = z
  .strictObject({
    ...EITHER_ID,
    amount: fields.amount.optional(),
  })
  .superRefine(demandOneId)
  .meta({
    id: 'RenewPreauthorization',
    description: 'Asks for a hold like an earlier one, for what remained of it unless `amount` says otherwise',
    ...ONE_ID,
  });

export const renewPreauthorization = restRoute({
  ...createsOperation(201, 'The new hold', Hold.schema, '/operations/{requestId}'),
  path: '/preauthorization/renew',
  tag: 'Holds',
  summary: 'Place a hold again',
  description:
    'With the token, terminal and user of an earlier hold, by its `preauthorizationId` or its `requestId`, for what ' +
    'remained of it: what is left of an open one, what was given back of one that has ended. One that is still open ' +
    'is released after the new one is placed.',
  body: RenewPreauthorization,
  codes: [
    ...KEYED_WRITE,
    'PREAUTHORIZATION_NOT_FOUND',
    'HOLD_NOT_PLACED',
    'NOT_SUPPORTED',
    'HOLD_FROZEN',
    'HOLD_CAPTURED',
    'CAPTURE_IN_FLIGHT',
    'TOKEN_INVALID',
    ...PROCESSOR,
  ],
  handler: ({ ctx, core, merchantId, body: { amount, ...ids } }) => {
    const request = defined({ ...namedHold(ids), amount, merchantId });
    return writeOperation(ctx, async (name) => {
      const renewal = await core.preauthorizations.renewPreauthorization({ ...request, ...name });
      const { preauthorization, state, replayed } = renewal;
      const hold = answered(preauthorization);
      return state === OperationState.OK ? { body: Hold.json(hold), replayed } : { inProgress: hold, replayed };
    });
  },
});
