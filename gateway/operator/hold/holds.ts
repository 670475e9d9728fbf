import { z } from 'zod';
import { PreauthorizationSchema } from '../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { READ } from '../../http/problem-codes.ts';
import { answer, pageOf } from '../../resource/answer.ts';
import { requestId } from '../../resource/answer-fields.ts';
import { Capture } from '../../resource/capture.ts';
import { answered } from '../../resource/core-messages.ts';
import { answerPageOrCsv, CSV, type Export } from '../../resource/csv.ts';
import { Delivery } from '../../resource/delivery.ts';
import { HOLD, HoldFilters } from '../../resource/hold.ts';
import { Operation } from '../../resource/operation.ts';
import { merchantId, requestIdFilter } from '../../resource/request-fields.ts';
import { operatorRoute } from '../route.ts';

/** A hold as operators see it: without anything that could capture it or pay with its card. */
export const OperatorHold = answer('OperatorHold', PreauthorizationSchema, {
  about: 'A hold as operators see it: nothing that could capture or pay',
  parts: HOLD.parts,
  without: ['preauthorizationId', 'generatedTokenId', 'checkoutUrl', 'captures'],
});

const OperatorHoldPage = pageOf('OperatorHoldPage', 'Newest first', OperatorHold, 'preauthorizations');

export const listHolds = operatorRoute({
  path: '/operator/holds',
  tag: 'Operators: holds',
  summary: 'Search holds',
  description: 'Of all merchants, newest first; filters are joined by AND. Items do not carry `preauthorizationId`.',
  query: HoldFilters.extend({
    requestId: requestIdFilter.optional(),
    merchantId: merchantId.optional(),
  }),
  answers: { 200: { description: 'A page', schema: OperatorHoldPage.schema, orText: CSV } },
  handler: async ({ query, ...call }) => {
    const { core, asOperator } = call;
    const read: Export['read'] = async (page) =>
      OperatorHoldPage.json(await core.preauthorizations.listPreauthorizations({ ...query, ...page }, asOperator));
    await answerPageOrCsv(call, { schema: OperatorHold.schema, read });
  },
});

/** A hold with all that happened to it and the notifications that were sent. */
const OperatorHoldStory = OperatorHold.schema
  .extend({
    captures: z.array(Capture.schema).describe('The newest 50, oldest first'),
    operations: z.array(Operation.schema).describe('What became of it, oldest first; the first is the hold itself'),
    deliveries: z.array(Delivery.schema).describe('Its notifications, oldest first, at most 200; without attempts'),
  })
  .meta({ id: 'OperatorHoldStory' });

/** The newest operations and deliveries are shown; their lists have the rest. */
const pageSize = 200;

export const getHold = operatorRoute({
  path: '/operator/holds/{requestId}',
  tag: 'Operators: holds',
  summary: 'Look up a hold with its captures, operations and deliveries',
  description:
    'Of captures the newest 50 are shown, of operations and deliveries the newest 200; the lists of operations and ' +
    'deliveries have the rest. Nothing in it could capture the hold or pay with its card.',
  parameters: { requestId },
  answers: { 200: { description: 'The hold', schema: OperatorHoldStory } },
  codes: [...READ, 'PREAUTHORIZATION_NOT_FOUND', 'RECONCILING'],
  handler: async ({ ctx, core, asOperator, params: { requestId } }) => {
    const { preauthorization } = await core.preauthorizations.getPreauthorization({ requestId }, asOperator);
    const hold = answered(preauthorization);
    const [own, rest, sent] = await Promise.all([
      core.operations.getOperation({ requestId }, asOperator),
      core.operations.listOperations({ holdRequestId: requestId, pageSize }, asOperator),
      core.notifications.listDeliveries({ holdRequestId: requestId, pageSize }, asOperator),
    ]);
    const operations = [...(own.operation ? [own.operation] : []), ...rest.operations.toReversed()];
    ctx.state.requestId = requestId;
    return {
      ...OperatorHold.json(hold),
      captures: hold.captures.map(Capture.json),
      operations: operations.map(Operation.json),
      deliveries: sent.deliveries.toReversed().map(Delivery.json),
    };
  },
});
