import { type Example, FINAL_CAPTURE_ID, MERCHANT_ID, TEST_ID, WEBHOOK_URL } from './example.ts';
import { finalCapture } from './oct-operation-relay.ts';

const DELIVERY_ID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f5a01';
const TEST_DELIVERY_ID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f5a02';
const SECRET_ID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f5b01';
const NEXT_SECRET_ID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f5b02';

const secret = { signingSecretId: SECRET_ID, createdAt: '2026-11-21T09:00:00.000Z' };
const nextSecret = { signingSecretId: NEXT_SECRET_ID, createdAt: '2026-11-21T16:05:00.000Z' };
const endpoint = { webhookUrl: WEBHOOK_URL, failureCount: 0, signingSecrets: [secret], warnings: [] };
const created = {
  deliveryId: DELIVERY_ID,
  merchantId: MERCHANT_ID,
  endpointKind: 'WEBHOOK',
  requestId: FINAL_CAPTURE_ID,
  kind: 'PAYMENT',
  statusInfo: 'captured',
  attemptCount: 1,
  createdAt: '2026-11-21T12:10:00.080Z',
};
const delivered = { ...created, state: 'DELIVERED', deliveredAt: '2026-11-21T12:10:00.120Z' };
const attempts = [
  {
    number: 1,
    startedAt: '2026-11-21T12:10:00.090Z',
    latencyMs: 24,
    httpStatus: 200,
    responseHead: `{"requestId":"${FINAL_CAPTURE_ID}"}`,
  },
];
const content = {
  url: `${WEBHOOK_URL}/webhook/processor/payment/captured`,
  headers: [
    { name: 'content-type', value: 'application/json' },
    { name: 'user-agent', value: 'Holdfast/1' },
    { name: 'x-service-signature', value: 'q83vEjRWeJCr…' },
    { name: 'webhook-id', value: DELIVERY_ID },
    { name: 'webhook-timestamp', value: '1795262700' },
    { name: 'webhook-signature', value: 'v1,kD93mVqXe…' },
  ],
  body: `{\n  "merchantId": "${MERCHANT_ID}",\n  "requestId": "${FINAL_CAPTURE_ID}",\n  "status": "OK",\n  "amount": 2000,\n  "currency": "EUR"\n}`,
};

/** A merchant looks after its webhook: the address, a test, a notification that it has lost, and another secret. */
export const WEBHOOK_EXAMPLES: readonly Example[] = [
  {
    route: 'setWebhookEndpoint',
    name: 'moved',
    summary: 'The receiver has an address',
    body: { webhookUrl: WEBHOOK_URL },
    status: 200,
    answer: endpoint,
  },
  {
    route: 'sendTestNotification',
    name: 'first',
    summary: 'Does the receiver take what it is sent?',
    body: {},
    status: 201,
    answer: {
      ...created,
      deliveryId: TEST_DELIVERY_ID,
      requestId: TEST_ID,
      statusInfo: 'test',
      state: 'PENDING',
      attemptCount: 0,
      createdAt: '2026-11-21T16:00:00.000Z',
      dueAt: '2026-11-21T16:00:00.000Z',
    },
  },
  {
    route: 'listOwnDeliveries',
    name: 'ofCapture',
    summary: 'The notification of a capture',
    parameters: { requestId: FINAL_CAPTURE_ID, endpointKind: 'WEBHOOK', createdFrom: '2026-11-21T00:00:00.000Z' },
    status: 200,
    answer: { items: [delivered] },
  },
  {
    route: 'getOwnDelivery',
    name: 'delivered',
    summary: 'Taken at the first attempt',
    parameters: { deliveryId: DELIVERY_ID },
    status: 200,
    answer: { ...delivered, attempts, content, operation: finalCapture },
  },
  {
    route: 'replayOwnDelivery',
    name: 'again',
    summary: 'The receiver has lost it',
    parameters: { deliveryId: DELIVERY_ID },
    body: {},
    status: 200,
    answer: { ...created, state: 'PENDING', dueAt: '2026-11-21T16:02:00.000Z', attempts },
  },
  {
    route: 'addOwnSigningSecret',
    name: 'second',
    summary: 'A second secret, to change over to',
    body: {},
    status: 201,
    answer: { ...nextSecret, signingSecret: 'whsec_b3BlcmF0b3JzLXNlZS10aGlzLW9uY2UtZXhhbXBsZTM=' },
  },
  {
    route: 'getWebhookEndpoint',
    name: 'changingOver',
    summary: 'Between the old secret and the new',
    status: 200,
    answer: { ...endpoint, signingSecrets: [secret, nextSecret] },
  },
  {
    route: 'retireOwnSigningSecret',
    name: 'second',
    summary: 'The new one was not needed after all',
    parameters: { signingSecretId: NEXT_SECRET_ID },
    status: 204,
  },
];
