import assert from 'node:assert/strict';
import { READ } from '../../http/problem-codes.ts';
import { Oct, octJson } from '../../resource/oct.ts';
import { requestId } from '../../resource/request-fields.ts';
import { restRoute } from '../route.ts';

export const getOct = restRoute({
  method: 'get',
  path: '/oct/{requestId}',
  tag: 'OCT',
  summary: 'Look up an OCT, final or not',
  parameters: { requestId },
  answers: { 200: { description: 'The OCT', schema: Oct } },
  codes: [...READ, 'OPERATION_NOT_FOUND'],
  handler: async ({ ctx, core, merchantId, params }) => {
    const { oct } = await core.octs.getOct({ ...params, merchantId });
    assert(oct, 'core answers with the OCT');
    ctx.body = octJson(oct);
  },
});
