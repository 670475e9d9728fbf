import { z } from 'zod';
import { eventStream, LAST_EVENT_ID, OPERATIONS, streamEvents } from '../../event-stream/event-stream.ts';
import { READ, READ_ONE } from '../../http/problem-codes.ts';
import { requestId } from '../../resource/answer-fields.ts';
import { answerPageOrCsv, CSV, type Export } from '../../resource/csv.ts';
import { Oct } from '../../resource/oct.ts';
import { Operation, OperationFilters, OperationPage, operationPage } from '../../resource/operation.ts';
import { merchantId } from '../../resource/request-fields.ts';
import { operatorRoute } from '../route.ts';

export const listOperatorOperations = operatorRoute({
  path: '/operator/operations',
  tag: 'Operators: overview',
  summary: 'List final results, newest first',
  description:
    'Of all merchants; filters are joined by AND. What has no result yet is not in it: see `/operator/reviews`.',
  query: OperationFilters.extend({ merchantId: merchantId.optional() }),
  answers: { 200: { description: 'A page', schema: OperationPage.schema, orText: CSV } },
  handler: async ({ query, ...call }) => {
    const { core, asOperator } = call;
    const read: Export['read'] = (page) => operationPage(core, { ...query, ...page }, asOperator);
    await answerPageOrCsv(call, { schema: Operation.schema, read });
  },
});

export const watchOperatorOperations = operatorRoute({
  path: '/operator/operations/stream',
  tag: 'Operators: overview',
  summary: 'Follow results as they are committed, of one merchant or all',
  description: 'Server-Sent Events as for merchants: `event: operation`, `id:` the token to resume from.',
  query: z.strictObject({ merchantId: merchantId.optional() }),
  headers: LAST_EVENT_ID,
  answers: { 200: eventStream(Operation.schema) },
  codes: [...READ, 'STREAM_TOKEN_TOO_OLD'],
  handler: async ({ ctx, operator, asOperator, query: { merchantId = '' }, ...call }) => {
    const reader = { merchantId, credential: 'operator', isLive: operator.isLive, ...asOperator };
    await streamEvents(ctx, call, reader, OPERATIONS);
  },
});

export const getOperatorOperation = operatorRoute({
  path: '/operator/operations/{requestId}',
  tag: 'Operators: overview',
  summary: 'Look up an operation, final or not',
  description: 'Of any kind, and any merchant. While `status` is not OK or KO there is no result yet.',
  parameters: { requestId },
  answers: { 200: { description: 'The operation', schema: Operation.schema } },
  codes: READ_ONE,
  handler: async ({ core, asOperator, params }) =>
    Operation.json((await core.operations.getOperation(params, asOperator)).operation),
});

export const getOperatorOct = operatorRoute({
  path: '/operator/oct/{requestId}',
  tag: 'Operators: overview',
  summary: 'Look up an OCT',
  description: 'By its `requestId`, of any merchant, final or not.',
  parameters: { requestId },
  answers: { 200: { description: 'The OCT', schema: Oct.schema } },
  codes: READ_ONE,
  handler: async ({ core, asOperator, params }) => Oct.json((await core.octs.getOct(params, asOperator)).oct),
});
