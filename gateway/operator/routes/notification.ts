import { z } from 'zod';
import { READ, WRITE } from '../../codes.ts';
import type { Route } from '../../route.ts';
import {
  DeliveryPage,
  DeliveryWithAttempts,
  Endpoint,
  EndpointPage,
  ListDeliveriesQuery,
  ReplayDeliveriesBody,
  ReplayedDeliveries,
} from '../schema/delivery.ts';
import { MerchantQuery, merchantId, NoBody, uuid } from '../schema/fields.ts';
import {
  FailurePage,
  ListFailuresQuery,
  ListQuarantineQuery,
  ListStoredQuery,
  QuarantinedNotification,
  QuarantinePage,
  ReplayStoredBody,
  StoredNotification,
  StoredPage,
} from '../schema/relay.ts';

const deliveries = { tag: 'Operators: deliveries', credential: 'operator' } as const;
const relay = { tag: 'Operators: relay', credential: 'operator' } as const;
const ofDelivery = { parameters: { deliveryId: uuid('delivery') } };
const ofEndpoint = {
  parameters: { merchantId, endpointKind: z.enum(['webhook', 'internal']).meta({ description: 'Which endpoint' }) },
  body: NoBody,
  answers: { 200: { description: 'The endpoint as it is now', schema: Endpoint } },
  codes: [...WRITE, 'OPERATION_NOT_FOUND'],
} as const;
const ofQuarantined = {
  parameters: { quarantineId: uuid('notification that was set aside') },
  body: NoBody,
  answers: { 200: { description: 'It, as it is now', schema: QuarantinedNotification } },
  codes: [...WRITE, 'OPERATION_NOT_FOUND'],
} as const;

/** Deliveries, endpoints, and what the relay refused or set aside. */
export const NOTIFICATION_ROUTES = {
  listDeliveries: {
    ...deliveries,
    method: 'get',
    path: '/operator/deliveries',
    summary: 'List deliveries, newest first',
    query: ListDeliveriesQuery,
    answers: { 200: { description: 'A page', schema: DeliveryPage } },
    codes: READ,
  },
  replayDeliveries: {
    ...deliveries,
    method: 'post',
    path: '/operator/deliveries/replay',
    summary: 'Send a range of deliveries again',
    body: ReplayDeliveriesBody,
    answers: { 200: { description: 'They wait for their attempts', schema: ReplayedDeliveries } },
    codes: WRITE,
  },
  getDelivery: {
    ...deliveries,
    ...ofDelivery,
    method: 'get',
    path: '/operator/deliveries/{deliveryId}',
    summary: 'Look up a delivery with its attempts',
    answers: { 200: { description: 'The delivery', schema: DeliveryWithAttempts } },
    codes: [...READ, 'OPERATION_NOT_FOUND'],
  },
  replayDelivery: {
    ...deliveries,
    ...ofDelivery,
    method: 'post',
    path: '/operator/deliveries/{deliveryId}/replay',
    summary: 'Send a delivery again',
    body: NoBody,
    answers: { 200: { description: 'The delivery as it is now', schema: DeliveryWithAttempts } },
    codes: [...WRITE, 'OPERATION_NOT_FOUND'],
  },
  listEndpoints: {
    ...deliveries,
    method: 'get',
    path: '/operator/endpoints',
    summary: 'List endpoints that fail or are paused',
    query: MerchantQuery,
    answers: { 200: { description: 'A page', schema: EndpointPage } },
    codes: READ,
  },
  pauseEndpoint: {
    ...deliveries,
    ...ofEndpoint,
    method: 'post',
    path: '/operator/endpoints/{merchantId}/{endpointKind}/pause',
    summary: 'Send nothing to an endpoint until it is resumed; nothing is lost',
  },
  resumeEndpoint: {
    ...deliveries,
    ...ofEndpoint,
    method: 'post',
    path: '/operator/endpoints/{merchantId}/{endpointKind}/resume',
    summary: "End an endpoint's pause, whatever its reason",
  },
  listFailures: {
    ...relay,
    method: 'get',
    path: '/operator/relay/failures',
    summary: 'List what the relay could not verify',
    query: ListFailuresQuery,
    answers: { 200: { description: 'A page', schema: FailurePage } },
    codes: READ,
  },
  listQuarantine: {
    ...relay,
    method: 'get',
    path: '/operator/relay/quarantine',
    summary: 'List verified notifications that were set aside',
    query: ListQuarantineQuery,
    answers: { 200: { description: 'A page', schema: QuarantinePage } },
    codes: READ,
  },
  releaseQuarantined: {
    ...relay,
    ...ofQuarantined,
    method: 'post',
    path: '/operator/relay/quarantine/{quarantineId}/release',
    summary: 'Forward a notification that was set aside, once',
  },
  discardQuarantined: {
    ...relay,
    ...ofQuarantined,
    method: 'post',
    path: '/operator/relay/quarantine/{quarantineId}/discard',
    summary: 'Decide that it is never forwarded',
  },
  listStored: {
    ...relay,
    method: 'get',
    path: '/operator/relay/notifications',
    summary: 'List notifications that the relay has accepted',
    description: 'Newest first. One whose body was purged is shown only when its requestId is asked for.',
    query: ListStoredQuery,
    answers: { 200: { description: 'A page', schema: StoredPage } },
    codes: READ,
  },
  replayStored: {
    ...relay,
    method: 'post',
    path: '/operator/relay/notifications/replay',
    summary: 'Forward an accepted notification, again if it was forwarded before',
    body: ReplayStoredBody,
    answers: { 200: { description: 'It, as it is now', schema: StoredNotification } },
    codes: [...WRITE, 'OPERATION_NOT_FOUND'],
  },
} as const satisfies Record<string, Route>;
