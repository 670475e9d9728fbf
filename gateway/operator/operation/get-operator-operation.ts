import { READ } from '../../http/problem-codes.ts';
import { requestId } from '../../resource/answer-fields.ts';
import { answered } from '../../resource/core-messages.ts';
import { Operation, operationJson } from '../../resource/operation.ts';
import { operatorRoute } from '../route.ts';

export const getOperatorOperation = operatorRoute({
  method: 'get',
  path: '/operator/operations/{requestId}',
  tag: 'Operators: overview',
  summary: 'Look up an operation, final or not',
  description:
    'A hold, capture, release, expiry, reversal, reinstatement or OCT of any merchant. While `status` is not OK or ' +
    'KO there is no result yet.',
  parameters: { requestId },
  answers: { 200: { description: 'The operation', schema: Operation } },
  codes: [...READ, 'OPERATION_NOT_FOUND', 'RECONCILING'],
  handler: async ({ ctx, core, asOperator, params }) => {
    const { operation } = await core.operations.getOperation(params, asOperator);
    ctx.body = operationJson(answered(operation));
  },
});
