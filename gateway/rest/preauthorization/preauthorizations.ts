import { PreauthorizationSchema } from '../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { READ } from '../../http/problem-codes.ts';
import { answer, pageOf } from '../../resource/answer.ts';
import { answerPageOrCsv, CSV } from '../../resource/csv.ts';
import { HOLD, HoldFilters, ListedHold } from '../../resource/payments.ts';
import { restRoute } from '../route.ts';

const HoldPage = pageOf('HoldPage', 'Newest first', ListedHold, 'preauthorizations');

export const listPreauthorizations = restRoute('Holds', 'GET /preauthorization', {
  summary: 'List holds, newest first',
  description: 'Filters are joined by AND. Items do not carry `preauthorizationId`.',
  query: HoldFilters,
  answers: { 200: { description: 'A page', schema: HoldPage.schema, orText: CSV } },
  handler: ({ query, ...call }) =>
    answerPageOrCsv(call, ListedHold.schema, async (page) => {
      const request = { ...query, ...page, merchantId: call.merchantId };
      return HoldPage.json(await call.core.preauthorizations.listPreauthorizations(request));
    }),
});

const HoldWithCaptures = answer('HoldWithCaptures', PreauthorizationSchema, {
  ...HOLD,
  without: ['generatedTokenId', 'frozen'],
});

export const getPreauthorization = restRoute('Holds', 'GET /preauthorization/{requestId}', {
  summary: 'Look up a hold with its captures',
  description:
    'By its `requestId`. The answer carries `preauthorizationId` once the hold is placed, and the checkout page ' +
    'while that is open. Of captures the newest 50 are shown; `GET /operations` with `holdRequestId` and ' +
    '`operation=CAPTURE` lists the results of all.',
  answers: { 200: { description: 'The hold', schema: HoldWithCaptures.schema } },
  codes: [...READ, 'PREAUTHORIZATION_NOT_FOUND', 'RECONCILING'],
  handler: async ({ core, merchantId, params }) => {
    const { preauthorization } = await core.preauthorizations.getPreauthorization({ ...params, merchantId });
    return HoldWithCaptures.json(preauthorization);
  },
});
