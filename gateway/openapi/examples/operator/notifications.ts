import { CAPTURE_ID, type Example, MERCHANT_ID, NEW_MERCHANT_ID } from '../example.ts';
import { capture } from '../oct-operation-relay.ts';

const DELIVERY_ID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f4a01';
const QUARANTINE_ID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f4b01';
const OTHER_QUARANTINE_ID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f4b02';

const created = {
  deliveryId: DELIVERY_ID,
  merchantId: MERCHANT_ID,
  endpointKind: 'WEBHOOK',
  requestId: CAPTURE_ID,
  kind: 'PAYMENT',
  statusInfo: 'captured',
  attemptCount: 1,
  createdAt: '2026-11-21T12:05:00.080Z',
};
const delivered = { ...created, state: 'DELIVERED', deliveredAt: '2026-11-21T12:05:00.120Z' };
const attempts = [
  {
    number: 1,
    startedAt: '2026-11-21T12:05:00.090Z',
    latencyMs: 24,
    httpStatus: 200,
    responseHead: `{"requestId":"${CAPTURE_ID}"}`,
  },
];
const content = {
  url: 'https://merchant.example/hooks/webhook/processor/payment/captured',
  headers: [
    { name: 'content-type', value: 'application/json' },
    { name: 'user-agent', value: 'Holdfast/1' },
    { name: 'x-service-signature', value: 'q83vEjRWeJCr…' },
    { name: 'webhook-id', value: DELIVERY_ID },
    { name: 'webhook-timestamp', value: '1795262700' },
    { name: 'webhook-signature', value: 'v1,kD93mVqXe…' },
  ],
  body: `{\n  "merchantId": "${MERCHANT_ID}",\n  "requestId": "${CAPTURE_ID}",\n  "status": "OK",\n  "amount": 1500,\n  "currency": "EUR"\n}`,
};
const endpoint = {
  merchantId: NEW_MERCHANT_ID,
  endpointKind: 'INTERNAL',
  failureCount: 0,
  changedAt: '2026-11-21T15:20:00.000Z',
};
const paused = { ...endpoint, pause: 'OPERATOR' };
const contradicted = {
  quarantineId: QUARANTINE_ID,
  merchantId: NEW_MERCHANT_ID,
  requestId: 'invoice-17',
  kind: 'PAYMENT',
  statusInfo: 'reversed',
  status: 'OK',
  amount: '10.50',
  currency: 'EUR',
  reason: 'STATUS_INFO_CONTRADICTED',
  state: 'HELD',
  receivedAt: '2026-11-21T15:15:00.000Z',
};
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
const conflicting = {
  ...contradicted,
  quarantineId: OTHER_QUARANTINE_ID,
  requestId: 'invoice-16',
  statusInfo: 'captured',
  amount: '99.00',
  reason: 'CONFLICT',
  receivedAt: '2026-11-21T15:16:00.000Z',
  accepted,
};

/** Deliveries, an endpoint that is paused for a while, and what the relay refused or set aside. */
export const NOTIFICATION_EXAMPLES: readonly Example[] = [
  {
    route: 'listDeliveries',
    name: 'ofCapture',
    summary: 'The notification of a capture',
    parameters: { merchantId: MERCHANT_ID, requestId: CAPTURE_ID, endpointKind: 'WEBHOOK' },
    status: 200,
    answer: { items: [delivered] },
  },
  {
    route: 'getDelivery',
    name: 'delivered',
    summary: 'Taken at the first attempt',
    parameters: { deliveryId: DELIVERY_ID },
    status: 200,
    answer: { ...delivered, attempts, content, operation: capture },
  },
  {
    route: 'replayDelivery',
    name: 'again',
    summary: 'The merchant has lost it',
    parameters: { deliveryId: DELIVERY_ID },
    body: {},
    status: 200,
    answer: { ...created, state: 'PENDING', dueAt: '2026-11-21T15:18:00.000Z', attempts },
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
    status: 200,
    answer: { replayedCount: 12, more: false },
  },
  {
    route: 'pauseEndpoint',
    name: 'maintenance',
    summary: 'The merchant maintains its system',
    parameters: { merchantId: NEW_MERCHANT_ID, endpointKind: 'internal' },
    body: {},
    status: 200,
    answer: paused,
  },
  {
    route: 'listEndpoints',
    name: 'paused',
    summary: 'One is paused',
    parameters: { merchantId: NEW_MERCHANT_ID },
    status: 200,
    answer: { items: [paused] },
  },
  {
    route: 'listFailures',
    name: 'forged',
    summary: 'Somebody guesses at a signature',
    parameters: { claimedMerchantId: NEW_MERCHANT_ID, reason: 'WRONG_SIGNATURE' },
    status: 200,
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
    status: 200,
    answer: { items: [conflicting, contradicted] },
  },
  {
    route: 'releaseQuarantined',
    name: 'genuine',
    summary: 'The sender confirms it',
    parameters: { quarantineId: QUARANTINE_ID },
    body: {},
    status: 200,
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
    status: 200,
    answer: { ...conflicting, state: 'DISCARDED', decidedAt: '2026-11-21T15:26:00.000Z' },
  },
  {
    route: 'listStored',
    name: 'accepted',
    summary: 'What was accepted of a merchant',
    parameters: { merchantId: NEW_MERCHANT_ID, requestId: 'invoice-16' },
    status: 200,
    answer: { items: [forwarded] },
  },
  {
    route: 'replayStored',
    name: 'lost',
    summary: 'The merchant has lost it',
    body: { merchantId: NEW_MERCHANT_ID, requestId: 'invoice-16' },
    status: 200,
    answer: forwarded,
  },
  {
    route: 'resumeEndpoint',
    name: 'afterwards',
    summary: 'The merchant is back',
    parameters: { merchantId: NEW_MERCHANT_ID, endpointKind: 'internal' },
    body: {},
    status: 200,
    answer: endpoint,
  },
];
