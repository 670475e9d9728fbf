/** A request of every route that changes something, each about something of its own. */
import assert from 'node:assert/strict';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import { v7 as uuidv7 } from 'uuid';
import { signNotification, signStandardWebhook } from '../../../client/webhooks/signature.ts';
import { effectOf, type Route } from '../../../gateway/http/route.ts';
import { ROUTES } from '../../../gateway/openapi/document.ts';
import { NotificationService, QuarantineReason } from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { notification } from '../../services/core/rpc/notification/verified.ts';
import { sql } from '../../services/core/shop.ts';
import { signingSecret } from '../../signing-secret.ts';
import type { Answer, Freezable } from '../freezable.ts';

/** What a case sends; its route says the method. */
export interface Request {
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Prepared extends Request {
  readonly name: string;
  readonly merchantId: string;
}

/** The routes of the table "When nobody knows" in docs/interfaces.md, by operationId. */
export const CHANGING: ReadonlyMap<string, Route> = new Map(
  Object.entries(ROUTES).filter(([, route]) => effectOf(route) !== 'READ'),
);

/** Sends the request of a route. */
export function send({ ask }: Freezable, { name, path, body, headers }: Prepared): Promise<Answer> {
  const { method } = CHANGING.get(name) ?? assert.fail(`no route ${name}`);
  return ask(method.toUpperCase(), path, body ?? (method === 'delete' ? undefined : {}), { ...headers });
}

/** Makes what the request of a route is about, of a merchant of its own, and returns the request. */
export async function prepare(service: Freezable, name: string): Promise<Prepared> {
  const make = CASES[name] ?? assert.fail(`${name} changes something, and has no case in test/gateway/promises`);
  const of = await openMerchant(service);
  return { name, merchantId: of.merchantId, ...(await make(of)) };
}

type Case = (of: Of) => Request | Promise<Request>;
type Of = Awaited<ReturnType<typeof openMerchant>>;

const ORDER = { amount: 1_000, currency: 'EUR', terminalId: 'T1', userId: 'u' };
const CONTRACT = { allowMultipleCaptures: true, allowOct: true, currencies: ['EUR'], terminals: ['T1'] };
const ADDRESSES = { webhookUrl: 'https://merchant.example', internalUrl: 'https://inner.example' };
const FURTHER = { url: 'https://books.example' };
const SINCE = { since: new Date(0).toISOString() };
const REASON = { reason: 'they said so' };

/** Creates a merchant with addresses; again, when a busy machine answers that nobody knows. */
async function createMerchant(ask: Freezable['ask']) {
  const contract = { ...CONTRACT, ...ADDRESSES, holdPeriodSeconds: 86_400 };
  for (let tries = 0; ; tries++) {
    const merchantId = `m${uuidv7().replaceAll('-', '').slice(-20)}`;
    const asked = { merchantId, name: merchantId, contract, apiKeyManagesWebhook: true };
    const { status, body } = await ask('POST', '/operator/merchants', asked);
    if (status === 201) return { merchantId, apiKey: body.apiKey, signingSecret: body.signingSecret };
    assert(status >= 500 && tries < 20, `${status} ${JSON.stringify(body)}`);
  }
}

/** Creates a merchant with addresses, and what its cases begin with. */
async function openMerchant({ ask, stage }: Freezable) {
  const { merchantId, apiKey, signingSecret } = await createMerchant(ask);
  const headers = { authorization: `Bearer ${apiKey}` };
  const own = async (path: string, asked: object) => {
    const { status, body } = await ask('POST', path, asked, headers);
    assert([200, 201].includes(status), `${status} ${JSON.stringify(body)}`);
    return body;
  };
  const place = () => own('/preauthorization', { tokenId: 'tok_sandbox_ok', ...ORDER });
  /** A further endpoint. */
  const endpoint = async (): Promise<string> =>
    (await ask('POST', `/operator/merchants/${merchantId}/webhook-endpoints`, FURTHER)).body.endpointId;
  const relay = stage.client('gateway', NotificationService);
  const verified = (requestId: string) => notification(requestId, { merchantId });
  return {
    stage,
    merchantId,
    signingSecret,
    path: `/operator/merchants/${merchantId}`,
    /** A request with the merchant's key. */
    asMerchant: (path: string, body?: object): Request => ({ path, headers, ...(body && { body }) }),
    place,
    async capture() {
      const { preauthorizationId } = await place();
      return own('/preauthorization/authorization', { preauthorizationId, amountToCapture: 400 });
    },
    /** A delivery that has ended. */
    async dead(): Promise<string> {
      await place();
      const text = `update delivery set state = 'DEAD', due_at = null where merchant_id = $1 returning id`;
      const [row] = await sql<{ id: string }>(stage, text, [merchantId]);
      return row?.id ?? assert.fail('nothing was to be delivered');
    },
    async addSender(): Promise<string> {
      const { body } = await ask('POST', `/operator/merchants/${merchantId}/relay-senders`, SENDER);
      return body.senderId;
    },
    addSecret: async () => (await ask('POST', `/operator/merchants/${merchantId}/signing-secrets`, {})).body,
    endpoint,
    /** The newer of two secrets of a further endpoint, as its route names it. */
    async endpointSecret(): Promise<string> {
      const endpointId = await endpoint();
      const path = `/operator/merchants/${merchantId}/webhook-endpoints/${endpointId}/signing-secrets`;
      return `${endpointId}/signing-secrets/${(await ask('POST', path, {})).body.signingSecretId}`;
    },
    async accepted(): Promise<string> {
      const requestId = uuidv7();
      await relay.acceptNotification(verified(requestId));
      return requestId;
    },
    async setAside(): Promise<string> {
      const reason = QuarantineReason.STATUS_INFO_CONTRADICTED;
      await relay.quarantineNotification({ ...verified(uuidv7()), reason });
      const text = 'select id from quarantined_notification where merchant_id = $1';
      const [row] = await sql<{ id: string }>(stage, text, [merchantId]);
      return row?.id ?? assert.fail('nothing was set aside');
    },
    async signIn(): Promise<Record<string, string>> {
      const signedIn = await ask('POST', '/operator/session', { token: stage.tokens.operator });
      const [cookie = ''] = signedIn.headers.getSetCookie();
      return { cookie: cookie.split(';')[0] ?? '', 'x-csrf-token': signedIn.body.csrfToken };
    },
  };
}

const SENDER = { name: 'a', scheme: 'standard-webhooks', secrets: [signingSecret('a sender')] };

const CASES: Readonly<Record<string, Case>> = {
  createPreauthorization: ({ asMerchant }) => asMerchant('/preauthorization', { tokenId: 'tok_sandbox_ok', ...ORDER }),
  capturePreauthorization: ofHold('authorization', { amountToCapture: 400 }),
  releasePreauthorization: ofHold('release'),
  incrementPreauthorization: ofHold('increment', { amountToAdd: 400 }),
  extendPreauthorization: ofHold('extend'),
  renewPreauthorization: ofHold('renew'),
  createRefund: async ({ asMerchant, capture }) =>
    asMerchant('/refund', { captureRequestId: (await capture()).requestId, amount: 100 }),
  createOct: ({ asMerchant }) => asMerchant('/oct', { tokenId: 'tok_sandbox_ok', ...ORDER }),
  captureHold: ofOperatorsHold('capture', { amountToCapture: 400 }),
  incrementHold: ofOperatorsHold('increment', { amountToAdd: 400 }),
  extendHold: ofOperatorsHold('extend'),
  releaseHold: ofOperatorsHold('release'),
  refundCapture: async ({ capture }) => ({
    path: `/operator/captures/${(await capture()).requestId}/refund`,
    body: { amount: 100 },
  }),

  updatePreauthorization: async ({ asMerchant, place }) =>
    asMerchant(`/preauthorization/${(await place()).requestId}`, {
      captureAt: new Date(Date.now() + 3_600_000).toISOString(),
    }),
  setWebhookEndpoint: ({ asMerchant }) => asMerchant('/webhook-endpoint', { webhookUrl: 'https://other.example' }),
  sendTestNotification: ({ asMerchant }) => asMerchant('/webhook-endpoint/test'),
  addOwnSigningSecret: ({ asMerchant }) => asMerchant('/signing-secrets'),
  retireOwnSigningSecret: async ({ asMerchant, addSecret }) =>
    asMerchant(`/signing-secrets/${(await addSecret()).signingSecretId}`),
  createWebhookEndpoint: ({ asMerchant }) => asMerchant('/webhook-endpoints', FURTHER),
  updateWebhookEndpoint: async ({ asMerchant, endpoint }) =>
    asMerchant(`/webhook-endpoints/${await endpoint()}`, { timeoutSeconds: 20 }),
  deleteWebhookEndpoint: async ({ asMerchant, endpoint }) => asMerchant(`/webhook-endpoints/${await endpoint()}`),
  addEndpointSecret: async ({ asMerchant, endpoint }) =>
    asMerchant(`/webhook-endpoints/${await endpoint()}/signing-secrets`),
  retireEndpointSecret: async ({ asMerchant, endpointSecret }) =>
    asMerchant(`/webhook-endpoints/${await endpointSecret()}`),
  testWebhookEndpoint: async ({ asMerchant, endpoint }) => asMerchant(`/webhook-endpoints/${await endpoint()}/test`),
  replayOwnDelivery: async ({ asMerchant, dead }) => asMerchant(`/deliveries/${await dead()}/replay`),
  recoverOwnDeliveries: async ({ asMerchant, dead }) => {
    await dead();
    return asMerchant('/deliveries/recover', SINCE);
  },

  relayNotification: ({ merchantId, signingSecret }) => {
    const signed = { merchantId, requestId: uuidv7(), status: 'OK', amount: '10', currency: 'EUR' };
    return {
      path: '/webhook/processor/payment/captured',
      body: signed,
      headers: { 'x-service-signature': signNotification(signingSecret, signed) },
    };
  },

  createRelaySender: ({ asMerchant }) => asMerchant('/relay-senders', SENDER),
  updateRelaySender: async ({ asMerchant, addSender }) =>
    asMerchant(`/relay-senders/${await addSender()}`, { name: 'b' }),
  deleteRelaySender: async ({ asMerchant, addSender }) => asMerchant(`/relay-senders/${await addSender()}`),
  relaySenderNotification: async ({ addSender }) => {
    const body = { invoice: uuidv7() };
    const timestampSeconds = Math.floor(Date.now() / 1_000);
    const message = { id: body.invoice, timestampSeconds, body: JSON.stringify(body) };
    return {
      path: `/webhook/relay/${await addSender()}`,
      body,
      headers: {
        'webhook-id': body.invoice,
        'webhook-timestamp': String(timestampSeconds),
        'webhook-signature': signStandardWebhook(SENDER.secrets[0] as string, message),
      },
    };
  },
  createSenderOf: ({ path }) => ({ path: `${path}/relay-senders`, body: SENDER }),
  updateSenderOf: async ({ path, addSender }) => ({
    path: `${path}/relay-senders/${await addSender()}`,
    body: { name: 'b' },
  }),
  deleteSenderOf: async ({ path, addSender }) => ({ path: `${path}/relay-senders/${await addSender()}` }),

  signOut: async ({ signIn }) => ({ path: '/operator/session', headers: await signIn() }),
  createMerchant: ({ merchantId }) => ({
    path: '/operator/merchants',
    body: { merchantId: `${merchantId}-b`, name: 'Bolt', contract: CONTRACT },
  }),
  updateMerchant: ({ path }) => ({ path, body: { name: 'Bolt', contract: CONTRACT } }),
  createApiKey: ({ path }) => ({ path: `${path}/api-keys` }),
  revokeApiKey: async ({ stage, merchantId, path }) => {
    const [key] = await sql<{ id: string }>(stage, 'select id from api_key where merchant_id = $1', [merchantId]);
    return { path: `${path}/api-keys/${key?.id}` };
  },
  createMerchantEndpoint: ({ path }) => ({ path: `${path}/webhook-endpoints`, body: FURTHER }),
  updateMerchantEndpoint: async ({ path, endpoint }) => ({
    path: `${path}/webhook-endpoints/${await endpoint()}`,
    body: { timeoutSeconds: 20 },
  }),
  deleteMerchantEndpoint: async ({ path, endpoint }) => ({ path: `${path}/webhook-endpoints/${await endpoint()}` }),
  addMerchantEndpointSecret: async ({ path, endpoint }) => ({
    path: `${path}/webhook-endpoints/${await endpoint()}/signing-secrets`,
  }),
  retireMerchantEndpointSecret: async ({ path, endpointSecret }) => ({
    path: `${path}/webhook-endpoints/${await endpointSecret()}`,
  }),
  addSigningSecret: ({ path }) => ({ path: `${path}/signing-secrets` }),
  retireSigningSecret: async ({ path, addSecret }) => ({
    path: `${path}/signing-secrets/${(await addSecret()).signingSecretId}`,
  }),
  replayDeliveries: async ({ merchantId, dead }) => {
    await dead();
    return { path: '/operator/deliveries/replay', body: { merchantId } };
  },
  replayDelivery: async ({ dead }) => ({ path: `/operator/deliveries/${await dead()}/replay` }),
  recoverDeliveries: async ({ merchantId, dead }) => {
    await dead();
    return { path: '/operator/deliveries/recover', body: { merchantId, ...SINCE } };
  },
  pauseEndpoint: ({ merchantId }) => ({ path: `/operator/endpoints/${merchantId}/webhook/pause` }),
  resumeEndpoint: async ({ stage, merchantId }) => {
    const text = `insert into endpoint (merchant_id, kind, pause, failure_count, pause_count, changed_at)
      values ($1, 'webhook', 'GONE', 1, 1, now())`;
    await sql(stage, text, [merchantId]);
    return { path: `/operator/endpoints/${merchantId}/webhook/resume` };
  },
  replayStored: async ({ merchantId, accepted }) => ({
    path: '/operator/relay/notifications/replay',
    body: { merchantId, requestId: await accepted() },
  }),
  releaseQuarantined: async ({ setAside }) => ({ path: `/operator/relay/quarantine/${await setAside()}/release` }),
  discardQuarantined: async ({ setAside }) => ({ path: `/operator/relay/quarantine/${await setAside()}/discard` }),
  discardManyQuarantined: async ({ merchantId, setAside }) => {
    await setAside();
    return { path: '/operator/relay/quarantine/discard', body: { merchantId } };
  },
  resolveReview: async ({ stage, place }) => {
    const { requestId } = await place();
    await sql(stage, 'update hold set frozen = true where request_id = $1', [requestId]);
    return { path: `/operator/reviews/${requestId}/resolve`, body: { ...REASON, unfreezeHold: true } };
  },
  acknowledgeReview: async ({ stage, capture }) => {
    const { requestId: captureRequestId } = await capture();
    const event = { case: 'captureReversed', value: { captureRequestId, amount: 401n, reference: 'r' } } as const;
    const { events } = stage.channel('processor');
    await assert.rejects(events.reportEvent({ eventId: uuidv7(), occurredAt: timestampNow(), event }));
    return { path: `/operator/reviews/${captureRequestId}/acknowledge`, body: REASON };
  },
  correctReview: async ({ capture }) => ({
    path: `/operator/reviews/${(await capture()).requestId}/correct`,
    body: { ...REASON, outcome: 'KO' },
  }),
};

function ofHold(act: string, fields: object = {}): Case {
  return async ({ asMerchant, place }) => {
    const { preauthorizationId } = await place();
    return asMerchant(`/preauthorization/${act}`, { preauthorizationId, ...fields });
  };
}

function ofOperatorsHold(act: string, body: object = {}): Case {
  return async ({ place }) => ({ path: `/operator/holds/${(await place()).requestId}/${act}`, body });
}
