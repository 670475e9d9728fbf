import { z } from 'zod';
import { OperationState } from '../../../proto/gen/holdfast/v1/payment_pb.js';
import { Problem } from '../../http/problem.ts';
import { KEYED_WRITE, PROCESSOR } from '../../http/problem-codes.ts';
import { answered } from '../../resource/core-messages.ts';
import { KEYED, REPLAYED, readIdempotencyKey } from '../../resource/idempotency-key.ts';
import { isPreauthorizationId, isRequestId, notPreauthorizationId, notRequestId } from '../../resource/identifiers.ts';
import * as fields from '../../resource/request-fields.ts';
import { inProgress, WRITE_PROMISES, writeOperation } from '../../resource/write-operation.ts';
import { restRoute } from '../route.ts';
import { Hold } from './hold.ts';

const RenewPreauthorization = z
  .strictObject({
    merchantId: fields.merchantId.optional(),
    preauthorizationId: fields.preauthorizationId.optional(),
    requestId: fields.requestId.optional(),
    amount: fields.amount.optional(),
  })
  .refine((body) => (body.preauthorizationId === undefined) !== (body.requestId === undefined), {
    path: ['preauthorizationId'],
    error: 'is required, or else requestId: one of the two',
  })
  .meta({
    id: 'RenewPreauthorization',
    description: 'Asks for a hold like an earlier one, for what remained of it unless `amount` says otherwise',
    oneOf: [{ required: ['preauthorizationId'] }, { required: ['requestId'] }],
  });

export const renewPreauthorization = restRoute({
  method: 'post',
  path: '/preauthorization/renew',
  tag: 'Holds',
  summary: 'Place a hold again',
  description:
    'With the token, terminal and user of an earlier hold, by its `preauthorizationId` or its `requestId`, for what remained of it: what is left ' +
    'of an open one, what was given back of one that has ended. One that is still open is released after the new one is placed.',
  headers: KEYED,
  body: RenewPreauthorization,
  answers: {
    201: { description: 'The new hold', schema: Hold.schema, headers: REPLAYED },
    202: inProgress('/operations/{requestId}'),
  },
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
  promises: WRITE_PROMISES,
  handler: async ({ ctx, core, merchantId, body: { preauthorizationId = '', requestId = '', amount } }) => {
    const key = readIdempotencyKey(ctx);
    if (!isPreauthorizationId(preauthorizationId) && !isRequestId(requestId)) {
      const detail = notPreauthorizationId(preauthorizationId) ?? notRequestId(requestId);
      throw new Problem('PREAUTHORIZATION_NOT_FOUND', { detail });
    }
    const request = { preauthorizationId, requestId, merchantId, ...key, ...(amount !== undefined && { amount }) };
    await writeOperation(ctx, async (name) => {
      const { preauthorization, state, replayed } = await core.preauthorizations.renewPreauthorization({
        ...request,
        ...name,
      });
      const hold = answered(preauthorization);
      if (state !== OperationState.OK) return { inProgress: { requestId: hold.requestId }, replayed };
      return { status: 201, body: Hold.json(hold), replayed };
    });
  },
});
