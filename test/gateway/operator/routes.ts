/** Every route for operators with a valid request and core's answer to it. */
import { OPERATOR_ROUTES } from '../../../gateway/operator/operator.ts';
import type { FakeCore } from '../fake-core.ts';
import { CAPTURE, HOLD, HOLD_ID, NOW, OCT_ID, RELEASE_ID } from '../rest/examples.ts';

export type Name = keyof typeof OPERATOR_ROUTES;

/** Handles, capabilities and tokens in core's answers, which must never be in an answer to an operator. */
export const SECRETS = {
  handle: HOLD.preauthorizationId,
  checkout: 'https://checkout.example/c/capability',
  token: HOLD.generatedTokenId,
};

const IDS: Record<string, string> = {
  requestId: HOLD_ID,
  merchantId: 'acme',
  endpointKind: 'internal',
  endpointId: `internal-${OCT_ID}`,
  deliveryId: OCT_ID,
  quarantineId: RELEASE_ID,
  apiKeyId: OCT_ID,
  signingSecretId: OCT_ID,
  senderId: OCT_ID,
};
const SENDER = {
  senderId: OCT_ID,
  merchantId: 'acme',
  scheme: 'hmac-sha256-body',
  settings: { name: 'a', header: 'x-s', encoding: 'hex', toleranceSeconds: 300 },
  keys: [{ keyId: HOLD_ID, createdAt: NOW }],
  createdAt: NOW,
};
const CONTRACT = { allowMultipleCaptures: false, currencies: ['EUR'], terminals: ['T1'] };
const BODIES: Partial<Record<Name, object>> = {
  createMerchant: { merchantId: 'bolt', name: 'Bolt', contract: CONTRACT },
  updateMerchant: { name: 'Acme', contract: CONTRACT },
  createMerchantEndpoint: { url: 'https://ledger.example', purpose: 'internal' },
  updateMerchantEndpoint: { timeoutSeconds: 20 },
  captureHold: { amountToCapture: 4_000 },
  incrementHold: { amountToAdd: 4_000 },
  refundCapture: { amount: 500 },
  replayDeliveries: { merchantId: 'acme' },
  recoverDeliveries: { merchantId: 'acme', since: '2026-11-22T00:00:00.000Z' },
  discardManyQuarantined: { merchantId: 'acme' },
  createSenderOf: { name: 'a', scheme: 'hmac-sha256-body', header: 'X-S', encoding: 'hex', secrets: ['s'.repeat(16)] },
  updateSenderOf: { name: 'b' },
  replayStored: { merchantId: 'acme', requestId: 'r-1' },
  search: { text: 'order-1' },
  resolveReview: { outcome: 'OK', reason: 'they said so' },
  acknowledgeReview: { reason: 'they said so' },
  correctReview: { outcome: 'KO', reason: 'they said so' },
};

/** What a route demands in its query. */
const QUERIES: Partial<Record<Name, string>> = { listContradictions: `?requestId=${HOLD_ID}` };

/** Method, path and body of every route except signing in. */
export const REQUESTS = Object.entries(OPERATOR_ROUTES)
  .filter(([name]) => name !== 'signIn')
  .map(([name, route]) => {
    const isRead = route.method === 'get';
    return {
      name: name as Name,
      method: route.method.toUpperCase(),
      path:
        route.path.replace(/\{(\w+)\}/g, (_, parameter: string) => IDS[parameter] ?? '') +
        (QUERIES[name as Name] ?? ''),
      isRead,
      ask: ['post', 'put', 'patch'].includes(route.method) ? { body: BODIES[name as Name] ?? {} } : {},
    };
  });

const MERCHANT = {
  merchantId: 'acme',
  name: 'Acme',
  contract: { ...CONTRACT, holdPeriod: { seconds: 604_800n }, webhookUrl: 'https://merchant.example' },
  apiKeys: [{ apiKeyId: OCT_ID, last4: 'abcd', createdAt: NOW }],
  signingSecrets: [{ signingSecretId: OCT_ID, createdAt: NOW }],
  createdAt: NOW,
};
const DELIVERY = {
  deliveryId: OCT_ID,
  merchantId: 'acme',
  endpointKind: 1,
  endpointId: 'default',
  requestId: HOLD_ID,
  kind: 1,
  statusInfo: 'captured',
  state: 3,
  attemptCount: 10,
  createdAt: NOW,
};
const OPERATION = {
  requestId: HOLD_ID,
  kind: 1,
  state: 4,
  statusInfo: 'authorized',
  merchantId: 'acme',
  amount: 10_000n,
  currency: 'EUR',
  finalStateDate: NOW,
};
const CONTRADICTION = {
  contradictionId: OCT_ID,
  at: NOW,
  kind: 5,
  source: 3,
  processor: 'default',
  eventId: 'foreign-1',
  requestId: HOLD_ID,
  holdRequestId: HOLD_ID,
  told: 'FOREIGN_CAPTURE',
  kept: 'NONE',
  toldAmount: 0n,
  currency: 'EUR',
};
const SECRET_HOLD = { ...HOLD, checkoutUrl: SECRETS.checkout, checkoutExpiresAt: NOW };
const ENDPOINT = {
  merchantId: 'acme',
  endpointKind: 2,
  endpointId: 'internal',
  pause: 1,
  failureCount: 1,
  changedAt: NOW,
};
const FURTHER = {
  merchantId: 'acme',
  endpointId: `internal-${OCT_ID}`,
  purpose: 'internal',
  url: 'https://ledger.example',
  types: ['payment.*'],
  headerNames: ['authorization'],
  timeoutSeconds: 20,
  createdAt: NOW,
  failureCount: 0,
  signingSecrets: [{ signingSecretId: OCT_ID, createdAt: NOW }],
};
const STORED = {
  merchantId: 'acme',
  requestId: 'r-1',
  kind: 1,
  statusInfo: 'paid',
  status: 'OK',
  amount: '10.50',
  currency: 'EUR',
  receivedAt: NOW,
  state: 2,
  deliveryId: OCT_ID,
};
const QUARANTINED = {
  quarantineId: RELEASE_ID,
  merchantId: 'acme',
  requestId: 'r-1',
  kind: 2,
  statusInfo: 'paid',
  status: 'KO',
  amount: '10.50',
  currency: 'EUR',
  reason: 2,
  state: 1,
  receivedAt: NOW,
  accepted: STORED,
};

/** Configures the fake core to answer everything, secrets included. */
export function answerAll(core: FakeCore): void {
  const answers: Record<string, object> = {
    listWebhookEndpoints: { endpoints: [FURTHER] },
    createWebhookEndpoint: { endpoint: FURTHER, signingSecret: 'whsec_new' },
    getWebhookEndpoint: { endpoint: FURTHER },
    updateWebhookEndpoint: { endpoint: FURTHER },
    deleteWebhookEndpoint: {},
    getOverview: { unknownCount: 2, oldestUnknownAt: NOW, at: NOW },
    listMatches: {
      matches: [
        {
          requestId: HOLD_ID,
          kind: 1,
          state: 4,
          merchantId: 'acme',
          amount: 5n,
          currency: 'EUR',
          createdAt: NOW,
          matchedBy: 1,
        },
        { requestId: HOLD_ID, deliveryId: OCT_ID, merchantId: 'acme', createdAt: NOW, matchedBy: 1 },
      ],
      searchedFrom: NOW,
      nextPageToken: 'more',
    },
    listMinutes: { minutes: [{ start: NOW, okCount: 3, koCount: 1 }] },
    listReviewItems: {
      items: [
        {
          requestId: HOLD_ID,
          reason: 2,
          kind: 2,
          merchantId: 'acme',
          amount: 5n,
          currency: 'EUR',
          createdAt: NOW,
          contradictions: [CONTRADICTION],
          ageS: 90n,
        },
      ],
    },
    resolveOperation: { operation: OPERATION, frozen: true, overruled: false },
    listContradictions: { contradictions: [CONTRADICTION] },
    acknowledgeContradictions: { acknowledged: 1 },
    correctOperation: { operation: OPERATION, frozen: false },
    listAuditEntries: {
      entries: [
        { auditEntryId: OCT_ID, at: NOW, actor: 'operator/alice', action: 'a.b', target: 'acme', detail: '{"c":1}' },
      ],
      nextPageToken: 'more',
    },
    listPreauthorizations: { preauthorizations: [SECRET_HOLD] },
    getPreauthorization: { preauthorization: { ...SECRET_HOLD, frozen: true, captures: [CAPTURE] } },
    capturePreauthorization: { capture: CAPTURE },
    releasePreauthorization: { preauthorization: SECRET_HOLD, requestId: RELEASE_ID, state: 4 },
    incrementPreauthorization: { preauthorization: SECRET_HOLD, requestId: RELEASE_ID, state: 4 },
    extendPreauthorization: { preauthorization: SECRET_HOLD, requestId: RELEASE_ID, state: 4 },
    createRefund: { refund: { ...CAPTURE, captureRequestId: CAPTURE.requestId, amount: 500n, amountRefunded: 500n } },
    getOperation: { operation: OPERATION },
    listOperations: { operations: [{ ...OPERATION, requestId: RELEASE_ID, statusInfo: 'released', kind: 3 }] },
    getOct: { oct: { ...OPERATION, requestId: OCT_ID, createdAt: NOW } },
    listMerchants: { merchants: [MERCHANT] },
    getMerchant: { merchant: MERCHANT },
    createMerchant: { merchant: MERCHANT, apiKey: 'hf_new', signingSecret: 'whsec_new' },
    updateMerchant: { merchant: MERCHANT },
    createApiKey: { apiKey: MERCHANT.apiKeys[0], key: 'hf_new' },
    revokeApiKey: {},
    addSigningSecret: { signingSecret: MERCHANT.signingSecrets[0], secret: 'whsec_new' },
    retireSigningSecret: {},
    listRelaySenders: { senders: [SENDER] },
    createRelaySender: { sender: SENDER },
    updateRelaySender: { sender: SENDER },
    deleteRelaySender: {},
    listDeliveries: { deliveries: [DELIVERY] },
    getDelivery: {
      delivery: { ...DELIVERY, attempts: [{ number: 1, startedAt: NOW, latencyMs: 7, error: 'refused' }] },
    },
    replayDelivery: { delivery: { ...DELIVERY, state: 1 } },
    replayDeliveries: { replayedCount: 3, more: true },
    recoverDeliveries: { count: 3 },
    listEndpoints: { endpoints: [ENDPOINT] },
    pauseEndpoint: { endpoint: { ...ENDPOINT, pause: 2 } },
    resumeEndpoint: { endpoint: { ...ENDPOINT, pause: 0, failureCount: 0 } },
    listVerificationFailures: {
      failures: [
        {
          failureId: OCT_ID,
          failedAt: NOW,
          reason: 3,
          kind: 1,
          statusInfo: 'captured',
          claimedMerchantId: 'acme',
          address: '192.0.2.1',
          bodyBytes: 9,
          bodySha256: Buffer.alloc(32),
        },
      ],
    },
    listQuarantinedNotifications: { notifications: [QUARANTINED] },
    releaseQuarantinedNotification: { notification: { ...QUARANTINED, state: 2, deliveryId: OCT_ID, decidedAt: NOW } },
    discardQuarantinedNotifications: { discardedCount: 2, more: false },
    listStoredNotifications: { notifications: [STORED] },
    replayStoredNotification: { notification: STORED },
    discardQuarantinedNotification: { notification: { ...QUARANTINED, state: 3, decidedAt: NOW } },
  };
  for (const [method, answer] of Object.entries(answers)) core.answers.set(method, () => answer);
  core.onWatch = (call) => call.end();
}
