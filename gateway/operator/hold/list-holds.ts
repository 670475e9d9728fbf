import { READ } from '../../http/problem-codes.ts';
import { pageOf } from '../../resource/answer-fields.ts';
import { pageJson } from '../../resource/core-messages.ts';
import { HoldFilters } from '../../resource/hold.ts';
import { merchantReference, requestIdFilter } from '../../resource/request-fields.ts';
import { amountFilters, merchantId } from '../fields.ts';
import { operatorRoute } from '../route.ts';
import { OperatorHold, operatorHoldJson } from './operator-hold.ts';

export const listHolds = operatorRoute({
  method: 'get',
  path: '/operator/holds',
  tag: 'Operators: holds',
  summary: 'Search holds',
  description: 'Of all merchants, newest first; filters are joined by AND. Items do not carry `preauthorizationId`.',
  query: HoldFilters.extend({
    requestId: requestIdFilter.optional(),
    merchantId: merchantId.optional(),
    merchantReference: merchantReference.optional(),
    ...amountFilters,
  }),
  answers: { 200: { description: 'A page', schema: pageOf(OperatorHold).meta({ id: 'OperatorHoldPage' }) } },
  codes: READ,
  handler: async ({ ctx, core, asOperator, query }) => {
    const page = await core.preauthorizations.listPreauthorizations(query, asOperator);
    ctx.body = pageJson(page.preauthorizations.map(operatorHoldJson), page.nextPageToken);
  },
});
