import { z } from 'zod';
import { EndpointKind } from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { WRITE_ONE } from '../../http/problem-codes.ts';
import { pageOf } from '../../resource/answer.ts';
import { Endpoint } from '../../resource/delivery.ts';
import { merchantId, NoBody, page } from '../../resource/request-fields.ts';
import { operatorRoute } from '../route.ts';

const EndpointPage = pageOf('EndpointPage', 'By merchant', Endpoint, 'endpoints');

export const listEndpoints = operatorRoute({
  path: '/operator/endpoints',
  tag: 'Operators: deliveries',
  summary: 'List endpoints that fail or are paused',
  description: 'One that always worked is not listed. `pause` says why nothing is sent to an endpoint.',
  query: z.strictObject({ merchantId: merchantId.optional(), ...page }),
  answers: { 200: { description: 'A page', schema: EndpointPage.schema } },
  handler: async ({ core, asOperator, query }) =>
    EndpointPage.json(await core.notifications.listEndpoints(query, asOperator)),
});

export const pauseEndpoint = changesEndpoint(
  'pause',
  'Send nothing to an endpoint until it is resumed; nothing is lost',
  'Deliveries are created meanwhile and wait. Refused as OPERATION_NOT_FOUND for an unknown merchant.',
);

export const resumeEndpoint = changesEndpoint(
  'resume',
  "End an endpoint's pause, whatever its reason",
  'Also a pause after a 410 or by the breaker. Deliveries that waited are sent now.',
);

function changesEndpoint(act: 'pause' | 'resume', summary: string, description: string) {
  return operatorRoute({
    method: 'post',
    path: `/operator/endpoints/{merchantId}/{endpointKind}/${act}`,
    tag: 'Operators: deliveries',
    summary,
    description,
    parameters: { merchantId, endpointKind: z.enum(['webhook', 'internal']).describe('Which endpoint') },
    body: NoBody,
    answers: { 200: { description: 'The endpoint as it is now', schema: Endpoint.schema } },
    codes: WRITE_ONE,
    handler: async ({ core, asOperator, params: { merchantId, endpointKind: kind } }) => {
      const endpointKind = kind === 'internal' ? EndpointKind.INTERNAL : EndpointKind.WEBHOOK;
      const { endpoint } = await core.notifications[`${act}Endpoint`]({ merchantId, endpointKind }, asOperator);
      return Endpoint.json(endpoint);
    },
  });
}
