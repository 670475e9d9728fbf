import { READ } from '../../http/problem-codes.ts';
import { pageOf } from '../../resource/answer-fields.ts';
import { pageJson } from '../../resource/core-messages.ts';
import { HoldFilters, ListedHold, listedHoldJson } from '../../resource/hold.ts';
import { restRoute } from '../route.ts';

export const listPreauthorizations = restRoute({
  method: 'get',
  path: '/preauthorization',
  tag: 'Holds',
  summary: 'List holds, newest first',
  description: 'Filters are joined by AND. Items do not carry `preauthorizationId`.',
  query: HoldFilters,
  answers: {
    200: { description: 'A page', schema: pageOf(ListedHold).meta({ id: 'HoldPage', description: 'Newest first' }) },
  },
  codes: READ,
  handler: async ({ ctx, core, merchantId, query }) => {
    const page = await core.preauthorizations.listPreauthorizations({ ...query, merchantId });
    ctx.body = pageJson(page.preauthorizations.map(listedHoldJson), page.nextPageToken);
  },
});
