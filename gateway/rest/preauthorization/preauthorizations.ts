import { z } from 'zod';
import { READ } from '../../http/problem-codes.ts';
import { pageOf } from '../../resource/answer-fields.ts';
import { Capture, captureJson } from '../../resource/capture.ts';
import { answered, pageJson } from '../../resource/core-messages.ts';
import { CSV } from '../../resource/csv.ts';
import { HoldFilters, ListedHold, listedHoldJson } from '../../resource/hold.ts';
import { requestId } from '../../resource/request-fields.ts';
import { answerList } from '../answer-list.ts';
import { restRoute } from '../route.ts';
import { Hold, holdJson } from './hold.ts';

export const listPreauthorizations = restRoute({
  method: 'get',
  path: '/preauthorization',
  tag: 'Holds',
  summary: 'List holds, newest first',
  description: 'Filters are joined by AND. Items do not carry `preauthorizationId`.',
  query: HoldFilters,
  answers: {
    200: {
      description: 'A page',
      schema: pageOf(ListedHold).meta({ id: 'HoldPage', description: 'Newest first' }),
      orText: CSV,
    },
  },
  codes: READ,
  handler: async ({ query, ...call }) => {
    const { core, merchantId } = call;
    await answerList(call, ListedHold, query.pageToken, async (page) => {
      const holds = await core.preauthorizations.listPreauthorizations({ ...query, ...page, merchantId });
      return pageJson(holds.preauthorizations.map(listedHoldJson), holds.nextPageToken);
    });
  },
});

const HoldWithCaptures = Hold.extend({
  captures: z.array(Capture).meta({ description: 'The newest 50, oldest first' }),
}).meta({ id: 'HoldWithCaptures' });

export const getPreauthorization = restRoute({
  method: 'get',
  path: '/preauthorization/{requestId}',
  tag: 'Holds',
  summary: 'Look up a hold with its captures',
  description:
    'By its `requestId`. The answer carries `preauthorizationId` once the hold is placed, and the checkout page ' +
    'while that is open. Of captures the newest 50 are shown; `GET /operations` with `holdRequestId` and ' +
    '`operation=CAPTURE` lists the results of all.',
  parameters: { requestId },
  answers: { 200: { description: 'The hold', schema: HoldWithCaptures } },
  codes: [...READ, 'PREAUTHORIZATION_NOT_FOUND', 'RECONCILING'],
  handler: async ({ ctx, core, merchantId, params }) => {
    const { preauthorization } = await core.preauthorizations.getPreauthorization({ ...params, merchantId });
    const hold = answered(preauthorization);
    ctx.body = { ...holdJson(hold), captures: hold.captures.map(captureJson) };
  },
});
