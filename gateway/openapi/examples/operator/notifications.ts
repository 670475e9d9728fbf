import { type Draft, deliveryOf, ID, MERCHANT_ID, NEW_MERCHANT_ID } from '../example.ts';
import { captured } from '../oct-operation-relay.ts';

const DELIVERY_ID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f4a01';
const QUARANTINE_ID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f4b01';
const OTHER_QUARANTINE_ID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f4b02';

const delivery = deliveryOf(captured, DELIVERY_ID, '2026-11-21T15:18:00.000Z');
const endpoint = {
  merchantId: NEW_MERCHANT_ID,
  endpointKind: 'INTERNAL',
  failureCount: 0,
  changedAt: '2026-11-21T15:20:00.000Z',
};
const paused = { ...endpoint, pause: 'OPERATOR' };
const accepted = {
  merchantId: NEW_MERCHANT_ID,
  requestId: 'invoice-16',
  kind: 'PAYMENT',
  statusInfo: 'captured',
  status: 'OK',
  amount: '10.50',
  currency: 'EUR',
  receivedAt: '2026-11-21T15:15:30.000Z',
};
const forwarded = { ...accepted, state: 'FORWARDED', deliveryId: '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f4a03' };
const contradicted = {
  ...accepted,
  quarantineId: QUARANTINE_ID,
  requestId: 'invoice-17',
  statusInfo: 'reversed',
  reason: 'STATUS_INFO_CONTRADICTED',
  state: 'HELD',
  receivedAt: '2026-11-21T15:15:00.000Z',
};
const conflicting = {
  ...accepted,
  quarantineId: OTHER_QUARANTINE_ID,
  amount: '99.00',
  reason: 'CONFLICT',
  state: 'HELD',
  receivedAt: '2026-11-21T15:16:00.000Z',
  accepted,
};

/** Deliveries, an endpoint that is paused for a while, and what the relay refused or set aside. */
export const NOTIFICATION_EXAMPLES: readonly Draft[] = [
  {
    route: 'listDeliveries',
    name: 'ofCapture',
    summary: 'The notification of a capture',
    parameters: { merchantId: MERCHANT_ID, requestId: ID.capture, endpointKind: 'WEBHOOK' },
    answer: { items: [delivery.delivered] },
  },
  {
    route: 'getDelivery',
    name: 'delivered',
    summary: 'Taken at the first attempt',
    parameters: { deliveryId: DELIVERY_ID },
    answer: delivery.shown,
  },
  {
    route: 'replayDelivery',
    name: 'again',
    summary: 'The merchant has lost it',
    parameters: { deliveryId: DELIVERY_ID },
    body: {},
    answer: delivery.replayed,
  },
  {
    route: 'replayDeliveries',
    name: 'dead',
    summary: 'What was given up in a night',
    body: {
      merchantId: NEW_MERCHANT_ID,
      endpointKind: 'INTERNAL',
      state: 'DEAD',
      createdFrom: '2026-11-20T20:00:00.000Z',
      createdTo: '2026-11-21T08:00:00.000Z',
      perSecond: 5,
    },
    answer: { replayedCount: 12, more: false },
  },
  {
    route: 'pauseEndpoint',
    name: 'maintenance',
    summary: 'The merchant maintains its system',
    parameters: { merchantId: NEW_MERCHANT_ID, endpointKind: 'internal' },
    body: {},
    answer: paused,
  },
  {
    route: 'listEndpoints',
    name: 'paused',
    summary: 'One is paused',
    parameters: { merchantId: NEW_MERCHANT_ID },
    answer: { items: [paused] },
  },
  {
    route: 'listFailures',
    name: 'forged',
    summary: 'Somebody guesses at a signature',
    parameters: { claimedMerchantId: NEW_MERCHANT_ID, reason: 'WRONG_SIGNATURE' },
    answer: {
      items: [
        {
          failureId: '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f4c01',
          failedAt: '2026-11-21T15:14:00.000Z',
          reason: 'WRONG_SIGNATURE',
          kind: 'PAYMENT',
          statusInfo: 'captured',
          claimedMerchantId: NEW_MERCHANT_ID,
          address: '192.0.2.1',
          bodyBytes: 96,
          bodySha256: '69a7d71324cc2bdaa414d12381bcf7b52fc003e8625b1ee10ccdae34be46c8e3',
          signatureSha256Prefix: 'b0aef61f',
        },
      ],
    },
  },
  {
    route: 'listQuarantine',
    name: 'held',
    summary: 'Nothing is decided yet',
    parameters: { merchantId: NEW_MERCHANT_ID, state: 'HELD' },
    answer: { items: [conflicting, contradicted] },
  },
  {
    route: 'releaseQuarantined',
    name: 'genuine',
    summary: 'The sender confirms it',
    parameters: { quarantineId: QUARANTINE_ID },
    body: {},
    answer: {
      ...contradicted,
      state: 'RELEASED',
      decidedAt: '2026-11-21T15:25:00.000Z',
      deliveryId: '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f4a02',
    },
  },
  {
    route: 'discardQuarantined',
    name: 'mistaken',
    summary: 'The sender had mistaken the number',
    parameters: { quarantineId: OTHER_QUARANTINE_ID },
    body: {},
    answer: { ...conflicting, state: 'DISCARDED', decidedAt: '2026-11-21T15:26:00.000Z' },
  },
  {
    route: 'discardManyQuarantined',
    name: 'flood',
    summary: 'A sender had repeated all it ever sent, with other words',
    body: { merchantId: NEW_MERCHANT_ID, reason: 'STATUS_INFO_CONTRADICTED' },
    answer: { discardedCount: 0, more: false },
  },
  {
    route: 'listStored',
    name: 'accepted',
    summary: 'What was accepted of a merchant',
    parameters: { merchantId: NEW_MERCHANT_ID, requestId: 'invoice-16' },
    answer: { items: [forwarded] },
  },
  {
    route: 'replayStored',
    name: 'lost',
    summary: 'The merchant has lost it',
    body: { merchantId: NEW_MERCHANT_ID, requestId: 'invoice-16' },
    answer: forwarded,
  },
  {
    route: 'resumeEndpoint',
    name: 'afterwards',
    summary: 'The merchant is back',
    parameters: { merchantId: NEW_MERCHANT_ID, endpointKind: 'internal' },
    body: {},
    answer: endpoint,
  },
];
