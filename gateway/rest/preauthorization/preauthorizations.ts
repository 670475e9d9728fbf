import { PreauthorizationSchema } from '../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { READ } from '../../http/problem-codes.ts';
import { answer, pageOf } from '../../resource/answer.ts';
import { answerPageOrCsv, CSV, type Export } from '../../resource/csv.ts';
import { HOLD, HoldFilters, ListedHold } from '../../resource/hold.ts';
import { requestId } from '../../resource/request-fields.ts';
import { restRoute } from '../route.ts';

const HoldPage = pageOf('HoldPage', 'Newest first', ListedHold, 'preauthorizations');

export const listPreauthorizations = restRoute({
  path: '/preauthorization',
  tag: 'Holds',
  summary: 'List holds, newest first',
  description: 'Filters are joined by AND. Items do not carry `preauthorizationId`.',
  query: HoldFilters,
  answers: { 200: { description: 'A page', schema: HoldPage.schema, orText: CSV } },
  handler: async ({ query, ...call }) => {
    const { core, merchantId } = call;
    const read: Export['read'] = async (page) =>
      HoldPage.json(await core.preauthorizations.listPreauthorizations({ ...query, ...page, merchantId }));
    await answerPageOrCsv(call, { schema: ListedHold.schema, read });
  },
});

const HoldWithCaptures = answer('HoldWithCaptures', PreauthorizationSchema, {
  ...HOLD,
  without: ['generatedTokenId', 'frozen'],
});

export const getPreauthorization = restRoute({
  path: '/preauthorization/{requestId}',
  tag: 'Holds',
  summary: 'Look up a hold with its captures',
  description:
    'By its `requestId`. The answer carries `preauthorizationId` once the hold is placed, and the checkout page ' +
    'while that is open. Of captures the newest 50 are shown; `GET /operations` with `holdRequestId` and ' +
    '`operation=CAPTURE` lists the results of all.',
  parameters: { requestId },
  answers: { 200: { description: 'The hold', schema: HoldWithCaptures.schema } },
  codes: [...READ, 'PREAUTHORIZATION_NOT_FOUND', 'RECONCILING'],
  handler: async ({ core, merchantId, params }) =>
    HoldWithCaptures.json(
      (await core.preauthorizations.getPreauthorization({ ...params, merchantId })).preauthorization,
    ),
});
