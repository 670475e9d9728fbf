import { z } from 'zod';
import { READ } from '../../codes.ts';
import type { Route } from '../../route.ts';
import { requestId } from '../schema/fields.ts';
import { lastEventId } from '../schema/headers.ts';
import { ListOperationsQuery, Operation, OperationPage } from '../schema/operation.ts';

/** Results, across holds and OCT. */
export const OPERATION_ROUTES = {
  listOperations: {
    method: 'get',
    path: '/operations',
    tag: 'Operations',
    summary: 'List final results, newest first',
    description: 'Filters are joined by AND.',
    credential: 'apiKey',
    query: ListOperationsQuery,
    answers: { 200: { description: 'A page', schema: OperationPage } },
    codes: READ,
  },
  watchOperations: {
    method: 'get',
    path: '/operations/stream',
    tag: 'Operations',
    summary: 'Follow results as they are committed',
    description:
      'Server-Sent Events: `event: operation`, `data:` an Operation in JSON, `id:` the token to resume from. In commit ' +
      'order, and none is ever skipped. A token that is too old, or whose result a restored database does not have, is ' +
      'refused as STREAM_TOKEN_TOO_OLD: list the operations instead. A comment every 15 seconds or oftener shows that the ' +
      'stream lives. An API key may have 100 streams open, unless the gateway is set otherwise, and open 100 in 10 seconds; ' +
      'one more is refused as RATE_LIMITED.',
    credential: 'apiKey',
    headers: { 'Last-Event-ID': lastEventId.optional() },
    answers: { 200: { description: 'The stream', schema: z.string(), mediaType: 'text/event-stream' } },
    codes: [...READ, 'STREAM_TOKEN_TOO_OLD'],
  },
  getOperation: {
    method: 'get',
    path: '/operations/{requestId}',
    tag: 'Operations',
    summary: 'Look up an operation, final or not',
    credential: 'apiKey',
    parameters: { requestId },
    answers: { 200: { description: 'The operation', schema: Operation } },
    codes: [...READ, 'OPERATION_NOT_FOUND'],
  },
} as const satisfies Record<string, Route>;
