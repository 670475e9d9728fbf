import { z } from 'zod';
import { READ } from '../../http/problem-codes.ts';
import { pageOf } from '../../resource/answer-fields.ts';
import { Endpoint, endpointJson } from '../../resource/endpoint.ts';
import { pageJson } from '../../resource/from-core.ts';
import { page } from '../../resource/request-fields.ts';
import { defined } from '../../resource/to-core.ts';
import { merchantId } from '../fields.ts';
import { operatorRoute } from '../route.ts';

export const listEndpoints = operatorRoute({
  method: 'get',
  path: '/operator/endpoints',
  tag: 'Operators: deliveries',
  summary: 'List endpoints that fail or are paused',
  query: z.strictObject({ merchantId: merchantId.optional(), ...page }),
  answers: {
    200: { description: 'A page', schema: pageOf(Endpoint).meta({ id: 'EndpointPage', description: 'By merchant' }) },
  },
  codes: READ,
  handler: async ({ ctx, core, asOperator, query: { pageSize, ...filters } }) => {
    const request = defined({ ...filters, pageSize: Number(pageSize ?? 0) });
    const { endpoints, nextPageToken } = await core.notifications.listEndpoints(request, asOperator);
    ctx.body = pageJson(endpoints.map(endpointJson), nextPageToken);
  },
});
