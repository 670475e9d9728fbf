import { z } from 'zod';
import * as contract from '../../proto/gen/holdfast/v1/notification_pb.js';
import { answer, pageOf } from '../resource/answer.ts';
import { mostOf } from '../resource/contract-bounds.ts';
import { numberOf } from '../resource/contract-field.ts';
import * as delivery from '../resource/delivery.ts';
import { endpointId, merchantId, NoBody, page, timeBefore, timeFrom } from '../resource/request-fields.ts';
import { operatorRoute } from './route.ts';

const REPLAY = contract.ReplayDeliveriesRequestSchema.field;
const ReplayedDeliveries = answer('ReplayedDeliveries', contract.ReplayDeliveriesResponseSchema);

const Endpoint = answer('Endpoint', contract.EndpointSchema, {
  // None waits, which is not the same as not counted.
  own: {
    waitingCount: { read: ({ waitingCount }) => waitingCount },
    deadCount: { read: ({ deadCount }) => deadCount },
  },
});
const EndpointPage = pageOf('EndpointPage', 'The one that has failed longest first', Endpoint, 'endpoints');

export const DELIVERY_ROUTES = {
  listDeliveries: operatorRoute('deliveries', 'GET /operator/deliveries', {
    summary: 'List deliveries, newest first',
    description: 'Of all merchants, without attempts; filters are joined by AND.',
    query: delivery.DeliveryFilters.extend({ merchantId: merchantId.optional() }),
    answers: { 200: { description: 'A page', schema: delivery.DeliveryPage.schema } },
    handler: ({ core, asOperator, query }) => delivery.deliveryPage(core, query, asOperator),
  }),
  replayDeliveries: operatorRoute('deliveries', 'POST /operator/deliveries/replay', {
    again: 'sends them once more',
    summary: 'Send a range of deliveries again',
    description:
      'Takes deliveries of one merchant that have ended, oldest first, and spreads them over time. `more` says ' +
      'whether others match; the same call again takes those.',
    body: z
      .strictObject({
        merchantId,
        endpointKind: numberOf(contract.EndpointKindSchema).optional(),
        endpointId: endpointId.describe('Only to this endpoint').optional(),
        state: numberOf(contract.DeliveryStateSchema, ['PENDING']).optional(),
        createdFrom: timeFrom.optional(),
        createdTo: timeBefore.optional(),
        maxCount: z.int().min(1).max(mostOf(REPLAY.maxCount)).describe('Most deliveries; default 1 000').optional(),
        perSecond: z.int().min(1).max(mostOf(REPLAY.perSecond)).describe('Attempts per second; default 20').optional(),
      })
      .meta({ id: 'ReplayDeliveries', description: 'Sends deliveries that have ended again, oldest first' }),
    answers: { 200: { description: 'They wait for their attempts', schema: ReplayedDeliveries.schema } },
    handler: async ({ core, asOperator, body }) =>
      ReplayedDeliveries.json(await core.notifications.replayDeliveries(body, asOperator)),
  }),
  getDelivery: operatorRoute('deliveries', 'GET /operator/deliveries/{deliveryId}', {
    summary: 'Look up a delivery with its attempts, what it sends, and what it is about',
    description:
      'Shows the address, headers and body that an attempt would send now. Of each signature only the beginning is ' +
      'shown, and tokens in the body are hidden. The newest attempts are on the first page, the oldest first in a ' +
      'page.',
    query: delivery.AttemptsPage,
    answers: { 200: { description: 'The delivery', schema: delivery.WholeDelivery.schema } },
    handler: async ({ core, asOperator, params, query }) =>
      delivery.WholeDelivery.json(await core.notifications.getDelivery({ ...params, ...query }, asOperator)),
  }),
  replayDelivery: operatorRoute('deliveries', 'POST /operator/deliveries/{deliveryId}/replay', {
    again: 'sends it once more',
    summary: 'Send a delivery again',
    description:
      'With the `webhook-id` that it had and a new schedule of attempts; one that waits for its next attempt gets it ' +
      'at once. Refused as INVALID_REQUEST when its body was purged or it had 200 attempts.',
    body: NoBody,
    answers: { 200: { description: 'The delivery as it is now', schema: delivery.DeliveryWithAttempts.schema } },
    handler: async ({ core, asOperator, params }) =>
      delivery.DeliveryWithAttempts.json((await core.notifications.replayDelivery(params, asOperator)).delivery),
  }),
  recoverDeliveries: operatorRoute('deliveries', 'POST /operator/deliveries/recover', {
    again: 'changes nothing more',
    summary: 'Send what was not delivered in a time now',
    description: delivery.RECOVER_DESCRIPTION,
    body: z.strictObject({ merchantId: merchantId.optional(), ...delivery.recoverFields }).meta({
      id: 'OperatorRecoverDeliveries',
      description: 'Makes due now what was not delivered; without merchantId of all',
    }),
    answers: { 202: { description: 'They wait for their attempts', schema: delivery.RecoveredDeliveries } },
    handler: async ({ core, asOperator, body }) => {
      const { count } = await core.notifications.recoverDeliveries(body, asOperator);
      return { count };
    },
  }),
  listEndpoints: operatorRoute('deliveries', 'GET /operator/endpoints', {
    summary: 'List endpoints that fail or are paused, the worst first',
    description:
      'Of all merchants, or of one: those that fail, the one that has failed longest first, then those that are only ' +
      'paused. One that always worked is not listed. `pause` says why nothing is sent to an endpoint.',
    query: z.strictObject({ merchantId: merchantId.optional(), ...page }),
    answers: { 200: { description: 'A page', schema: EndpointPage.schema } },
    handler: async ({ core, asOperator, query }) =>
      EndpointPage.json(await core.notifications.listEndpoints(query, asOperator)),
  }),
  pauseEndpoint: changesEndpoint(
    'pause',
    'Send nothing to an endpoint until it is resumed; nothing is lost',
    'Deliveries are created meanwhile and wait. Refused as OPERATION_NOT_FOUND for an unknown merchant.',
  ),
  resumeEndpoint: changesEndpoint(
    'resume',
    "End an endpoint's pause, whatever its reason",
    'Also a pause after a 410 or by the breaker. Deliveries that waited are sent now.',
  ),
} as const;

function changesEndpoint(act: 'pause' | 'resume', summary: string, description: string) {
  return operatorRoute('deliveries', `POST /operator/endpoints/{merchantId}/{endpointKind}/${act}`, {
    again: 'changes nothing more',
    summary,
    description,
    body: NoBody,
    answers: { 200: { description: 'The endpoint as it is now', schema: Endpoint.schema } },
    handler: async ({ core, asOperator, params: { merchantId, endpointKind: given } }) => {
      const { INTERNAL, WEBHOOK } = contract.EndpointKind;
      const endpointKind = given.startsWith('internal') ? INTERNAL : WEBHOOK;
      const endpointId = /^(webhook|default|internal)$/.test(given) ? '' : given;
      const request = { merchantId, endpointKind, endpointId };
      const { endpoint } = await core.notifications[`${act}Endpoint`](request, asOperator);
      return Endpoint.json(endpoint);
    },
  });
}
