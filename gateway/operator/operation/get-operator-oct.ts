import { READ } from '../../http/problem-codes.ts';
import { requestId } from '../../resource/answer-fields.ts';
import { answered } from '../../resource/core-messages.ts';
import { Oct, octJson } from '../../resource/oct.ts';
import { operatorRoute } from '../route.ts';

export const getOperatorOct = operatorRoute({
  method: 'get',
  path: '/operator/oct/{requestId}',
  tag: 'Operators: overview',
  summary: 'Look up an OCT',
  description: 'By its `requestId`, of any merchant, final or not.',
  parameters: { requestId },
  answers: { 200: { description: 'The OCT', schema: Oct } },
  codes: [...READ, 'OPERATION_NOT_FOUND', 'RECONCILING'],
  handler: async ({ ctx, core, asOperator, params }) => {
    const { oct } = await core.octs.getOct(params, asOperator);
    ctx.body = octJson(answered(oct));
  },
});
