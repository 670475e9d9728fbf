import { z } from 'zod';
import { READ } from '../../http/problem-codes.ts';
import { pageOf } from '../../resource/answer-fields.ts';
import { pageJson } from '../../resource/core-messages.ts';
import { Endpoint, endpointJson } from '../../resource/delivery.ts';
import { page } from '../../resource/request-fields.ts';
import { merchantId } from '../fields.ts';
import { operatorRoute } from '../route.ts';

export const listEndpoints = operatorRoute({
  method: 'get',
  path: '/operator/endpoints',
  tag: 'Operators: deliveries',
  summary: 'List endpoints that fail or are paused',
  description: 'One that always worked is not listed. `pause` says why nothing is sent to an endpoint.',
  query: z.strictObject({ merchantId: merchantId.optional(), ...page }),
  answers: {
    200: { description: 'A page', schema: pageOf(Endpoint).meta({ id: 'EndpointPage', description: 'By merchant' }) },
  },
  codes: READ,
  handler: async ({ ctx, core, asOperator, query }) => {
    const { endpoints, nextPageToken } = await core.notifications.listEndpoints(query, asOperator);
    ctx.body = pageJson(endpoints.map(endpointJson), nextPageToken);
  },
});
