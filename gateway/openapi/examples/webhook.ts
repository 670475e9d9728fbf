import { type Draft, deliveryOf, ID, WEBHOOK_URL } from './example.ts';
import { lastCaptured } from './oct-operation-relay.ts';

const DELIVERY_ID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f5a01';
const TEST_DELIVERY_ID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f5a02';
const SECRET_ID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f5b01';
const NEXT_SECRET_ID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f5b02';

const secret = { signingSecretId: SECRET_ID, createdAt: '2026-11-21T09:00:00.000Z' };
const nextSecret = { signingSecretId: NEXT_SECRET_ID, createdAt: '2026-11-21T16:05:00.000Z' };
const endpoint = { webhookUrl: WEBHOOK_URL, failureCount: 0, signingSecrets: [secret], warnings: [] };
const delivery = deliveryOf(lastCaptured, DELIVERY_ID, '2026-11-21T16:02:00.000Z');

/** A merchant looks after its webhook: the address, a test, a notification that it has lost, and another secret. */
export const WEBHOOK_EXAMPLES: readonly Draft[] = [
  {
    route: 'setWebhookEndpoint',
    name: 'moved',
    summary: 'The receiver has an address',
    body: { webhookUrl: WEBHOOK_URL },
    answer: endpoint,
  },
  {
    route: 'sendTestNotification',
    name: 'first',
    summary: 'Does the receiver take what it is sent?',
    body: {},
    status: 201,
    answer: {
      ...delivery.created,
      deliveryId: TEST_DELIVERY_ID,
      requestId: ID.test,
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
    parameters: { requestId: ID.finalCapture, endpointKind: 'WEBHOOK', createdFrom: '2026-11-21T00:00:00.000Z' },
    answer: { items: [delivery.delivered] },
  },
  {
    route: 'getOwnDelivery',
    name: 'delivered',
    summary: 'Taken at the first attempt',
    parameters: { deliveryId: DELIVERY_ID },
    answer: delivery.whole,
  },
  {
    route: 'replayOwnDelivery',
    name: 'again',
    summary: 'The receiver has lost it',
    parameters: { deliveryId: DELIVERY_ID },
    body: {},
    answer: delivery.replayed,
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
