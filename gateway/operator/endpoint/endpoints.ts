import { z } from 'zod';
import { EndpointKind } from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { READ, WRITE } from '../../http/problem-codes.ts';
import { pageOf } from '../../resource/answer.ts';
import { answered } from '../../resource/core-messages.ts';
import { Endpoint } from '../../resource/delivery.ts';
import { NoBody, page } from '../../resource/request-fields.ts';
import { merchantId } from '../fields.ts';
import { operatorRoute } from '../route.ts';

const EndpointPage = pageOf('EndpointPage', 'By merchant', Endpoint);

export const listEndpoints = operatorRoute({
  method: 'get',
  path: '/operator/endpoints',
  tag: 'Operators: deliveries',
  summary: 'List endpoints that fail or are paused',
  description: 'One that always worked is not listed. `pause` says why nothing is sent to an endpoint.',
  query: z.strictObject({ merchantId: merchantId.optional(), ...page }),
  answers: {
    200: { description: 'A page', schema: EndpointPage.schema },
  },
  codes: READ,
  handler: async ({ ctx, core, asOperator, query }) => {
    const { endpoints, nextPageToken } = await core.notifications.listEndpoints(query, asOperator);
    ctx.body = EndpointPage.json(endpoints, nextPageToken);
  },
});

const common = {
  method: 'post',
  tag: 'Operators: deliveries',
  parameters: { merchantId, endpointKind: z.enum(['webhook', 'internal']).meta({ description: 'Which endpoint' }) },
  body: NoBody,
  answers: { 200: { description: 'The endpoint as it is now', schema: Endpoint.schema } },
  codes: [...WRITE, 'OPERATION_NOT_FOUND', 'RECONCILING'],
} as const;

export const pauseEndpoint = operatorRoute({
  ...common,
  path: '/operator/endpoints/{merchantId}/{endpointKind}/pause',
  summary: 'Send nothing to an endpoint until it is resumed; nothing is lost',
  description: 'Deliveries are created meanwhile and wait. Refused as OPERATION_NOT_FOUND for an unknown merchant.',
  handler: async ({ ctx, core, asOperator, params }) => {
    const { endpoint } = await core.notifications.pauseEndpoint(endpointOf(params), asOperator);
    ctx.body = Endpoint.json(answered(endpoint));
  },
});

export const resumeEndpoint = operatorRoute({
  ...common,
  path: '/operator/endpoints/{merchantId}/{endpointKind}/resume',
  summary: "End an endpoint's pause, whatever its reason",
  description: 'Also a pause after a 410 or by the breaker. Deliveries that waited are sent now.',
  handler: async ({ ctx, core, asOperator, params }) => {
    const { endpoint } = await core.notifications.resumeEndpoint(endpointOf(params), asOperator);
    ctx.body = Endpoint.json(answered(endpoint));
  },
});

function endpointOf({ merchantId, endpointKind }: { merchantId: string; endpointKind: string }) {
  return { merchantId, endpointKind: endpointKind === 'internal' ? EndpointKind.INTERNAL : EndpointKind.WEBHOOK };
}
