import { eventStream, LAST_EVENT_ID, OPERATIONS, streamEvents } from '../../event-stream/event-stream.ts';
import { READ, READ_ONE } from '../../http/problem-codes.ts';
import { answerPageOrCsv, CSV, type Export } from '../../resource/csv.ts';
import { Operation, OperationFilters, OperationPage, operationPage } from '../../resource/operation.ts';
import { requestId } from '../../resource/request-fields.ts';
import { identityOf } from '../authenticate.ts';
import { restRoute } from '../route.ts';

export const listOperations = restRoute({
  path: '/operations',
  tag: 'Operations',
  summary: 'List final results, newest first',
  description: 'Filters are joined by AND.',
  query: OperationFilters,
  answers: { 200: { description: 'A page', schema: OperationPage.schema, orText: CSV } },
  handler: async ({ query, ...call }) => {
    const { core, merchantId } = call;
    const read: Export['read'] = (page) => operationPage(core, { ...query, ...page, merchantId });
    await answerPageOrCsv(call, { schema: Operation.schema, read });
  },
});

export const watchOperations = restRoute({
  path: '/operations/stream',
  tag: 'Operations',
  summary: 'Follow results as they are committed',
  description:
    'Server-Sent Events: `event: operation`, `data:` an Operation in JSON, `id:` the token to resume from. In commit ' +
    'order, and none is ever skipped. A token that is too old, or whose result a restored database does not have, is ' +
    'refused as STREAM_TOKEN_TOO_OLD: list the operations instead. A comment every 15 seconds or oftener shows that ' +
    'the stream lives. An API key may have 100 streams open, unless the gateway is set otherwise, and open 100 in 10 ' +
    'seconds; one more is refused as RATE_LIMITED.',
  headers: LAST_EVENT_ID,
  answers: { 200: eventStream(Operation.schema) },
  codes: [...READ, 'STREAM_TOKEN_TOO_OLD'],
  handler: async ({ ctx, ...call }) => {
    const { apiKeyHash: credential, ...identity } = identityOf(ctx);
    await streamEvents(ctx, call, { ...identity, credential }, OPERATIONS);
  },
});

export const getOperation = restRoute({
  path: '/operations/{requestId}',
  tag: 'Operations',
  summary: 'Look up an operation, final or not',
  description:
    'Answers what became of any `requestId`, also of one that was answered 202: there a 404 is final after 30 ' +
    'seconds. OPERATION_NOT_FOUND also for one of another merchant.',
  parameters: { requestId },
  answers: { 200: { description: 'The operation', schema: Operation.schema } },
  codes: READ_ONE,
  handler: async ({ core, merchantId, params }) =>
    Operation.json((await core.operations.getOperation({ ...params, merchantId })).operation),
});
