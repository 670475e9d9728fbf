import { z } from 'zod';
import { EVENT_STREAM, LAST_EVENT_ID, streamOperations } from '../../event-stream/event-stream.ts';
import { READ } from '../../http/problem-codes.ts';
import { merchantId } from '../fields.ts';
import { operatorRoute } from '../route.ts';

export const watchOperatorOperations = operatorRoute({
  method: 'get',
  path: '/operator/operations/stream',
  tag: 'Operators: overview',
  summary: 'Follow results as they are committed, of one merchant or all',
  description: 'Server-Sent Events as for merchants: `event: operation`, `id:` the token to resume from.',
  query: z.strictObject({ merchantId: merchantId.optional() }),
  headers: LAST_EVENT_ID,
  answers: { 200: EVENT_STREAM },
  codes: [...READ, 'STREAM_TOKEN_TOO_OLD'],
  handler: async ({ ctx, operator, asOperator, query: { merchantId = '' }, ...call }) => {
    await streamOperations(ctx, call, {
      merchantId,
      credential: 'operator',
      isLive: operator.isLive,
      ...asOperator,
    });
  },
});
