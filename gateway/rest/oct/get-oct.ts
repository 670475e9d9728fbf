import { READ } from '../../http/problem-codes.ts';
import { answered } from '../../resource/core-messages.ts';
import { Oct, octJson } from '../../resource/oct.ts';
import { requestId } from '../../resource/request-fields.ts';
import { restRoute } from '../route.ts';

export const getOct = restRoute({
  method: 'get',
  path: '/oct/{requestId}',
  tag: 'OCT',
  summary: 'Look up an OCT, final or not',
  description: 'By its `requestId`. OPERATION_NOT_FOUND also for one of another merchant.',
  parameters: { requestId },
  answers: { 200: { description: 'The OCT', schema: Oct } },
  codes: [...READ, 'OPERATION_NOT_FOUND', 'RECONCILING'],
  handler: async ({ ctx, core, merchantId, params }) => {
    const { oct } = await core.octs.getOct({ ...params, merchantId });
    ctx.body = octJson(answered(oct));
  },
});
