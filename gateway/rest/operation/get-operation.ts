import { READ } from '../../http/problem-codes.ts';
import { answered } from '../../resource/core-messages.ts';
import { Operation, operationJson } from '../../resource/operation.ts';
import { requestId } from '../../resource/request-fields.ts';
import { restRoute } from '../route.ts';

export const getOperation = restRoute({
  method: 'get',
  path: '/operations/{requestId}',
  tag: 'Operations',
  summary: 'Look up an operation, final or not',
  description:
    'Answers what became of any `requestId`, also of one that was answered 202: there a 404 is final after 30 ' +
    'seconds. OPERATION_NOT_FOUND also for one of another merchant.',
  parameters: { requestId },
  answers: { 200: { description: 'The operation', schema: Operation } },
  codes: [...READ, 'OPERATION_NOT_FOUND', 'RECONCILING'],
  handler: async ({ ctx, core, merchantId, params }) => {
    const { operation } = await core.operations.getOperation({ ...params, merchantId });
    ctx.body = operationJson(answered(operation));
  },
});
