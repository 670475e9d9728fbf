/** Merchants manage their own webhooks: how the gateway calls core, in whose name, and what it returns. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { status } from '@grpc/grpc-js';
import { refusal, TOKEN } from '../fake-core.ts';
import { API_KEY, type Ask, useStage } from '../stage.ts';
import { HOLD_ID, NOW, NOW_TEXT, OCT_ID, PREAUTHORIZATION_ID } from './examples.ts';

const MERCHANT = {
  merchantId: 'acme',
  name: 'Acme',
  contract: {
    webhookUrl: 'https://merchant.example',
    internalUrl: 'https://inner.example',
    processorAccount: 'acct_1',
  },
  apiKeys: [{ apiKeyId: OCT_ID, last4: 'abcd', createdAt: NOW }],
  signingSecrets: [{ signingSecretId: OCT_ID, createdAt: NOW }],
  warnings: [
    { field: 'contract.webhook_url', description: 'https is required' },
    { field: 'contract.internal_url', description: 'the address is not public' },
  ],
};
const WEBHOOK_JSON = {
  webhookUrl: 'https://merchant.example',
  failureCount: 0,
  signingSecrets: [{ signingSecretId: OCT_ID, createdAt: NOW_TEXT }],
  warnings: ['https is required'],
};
const DELIVERY = {
  deliveryId: OCT_ID,
  merchantId: 'acme',
  endpointKind: 1,
  endpointId: 'default',
  requestId: HOLD_ID,
  kind: 1,
  statusInfo: 'captured',
  state: 1,
  attemptCount: 0,
  createdAt: NOW,
  dueAt: NOW,
};
const DELIVERY_JSON = {
  deliveryId: OCT_ID,
  merchantId: 'acme',
  endpointKind: 'WEBHOOK',
  endpointId: 'default',
  requestId: HOLD_ID,
  kind: 'PAYMENT',
  statusInfo: 'captured',
  state: 'PENDING',
  attemptCount: 0,
  createdAt: NOW_TEXT,
  dueAt: NOW_TEXT,
};
const CONTENT = {
  url: 'https://merchant.example/webhook',
  headers: [{ name: 'webhook-id', value: OCT_ID }],
  body: '{}',
};

/** Method, path and body; the method of core with its expected request; the answer. */
const ROUTES: readonly [string, string, object | undefined, string, object, number, object | undefined][] = [
  ['GET', '/webhook-endpoint', undefined, 'getMerchant', {}, 200, WEBHOOK_JSON],
  [
    ...(['PUT', '/webhook-endpoint', { webhookUrl: 'https://new.example', merchantId: 'acme' }] as const),
    ...(['setWebhookUrl', { webhookUrl: 'https://new.example' }, 200, WEBHOOK_JSON] as const),
  ],
  ['PUT', '/webhook-endpoint', { webhookUrl: null }, 'setWebhookUrl', { webhookUrl: '' }, 200, WEBHOOK_JSON],
  ['POST', '/webhook-endpoint/test', undefined, 'sendTestNotification', {}, 201, DELIVERY_JSON],
  ['GET', '/deliveries', undefined, 'listDeliveries', {}, 200, { items: [DELIVERY_JSON], nextPageToken: 'more' }],
  [
    ...(['GET', `/deliveries/${OCT_ID}`, undefined, 'getDelivery', { deliveryId: OCT_ID }, 200] as const),
    { ...DELIVERY_JSON, attempts: [], content: CONTENT },
  ],
  [
    ...(['POST', `/deliveries/${OCT_ID}/replay`, {}, 'replayDelivery', { deliveryId: OCT_ID }, 200] as const),
    { ...DELIVERY_JSON, attempts: [] },
  ],
  [
    ...(['POST', '/signing-secrets', undefined, 'addSigningSecret', {}, 201] as const),
    { signingSecretId: OCT_ID, createdAt: NOW_TEXT, signingSecret: 'whsec_new' },
  ],
  [
    'DELETE',
    `/signing-secrets/${OCT_ID}`,
    undefined,
    'retireSigningSecret',
    { signingSecretId: OCT_ID },
    204,
    undefined,
  ],
];

describe('REST: a merchant and its webhook', () => {
  const stage = useStage();
  beforeEach(() => {
    for (const [method, answer] of Object.entries({
      getMerchant: { merchant: MERCHANT },
      setWebhookUrl: { merchant: MERCHANT },
      listEndpoints: { endpoints: [] },
      sendTestNotification: { delivery: DELIVERY },
      listDeliveries: { deliveries: [DELIVERY], nextPageToken: 'more' },
      getDelivery: { delivery: DELIVERY, content: CONTENT },
      replayDelivery: { delivery: DELIVERY },
      addSigningSecret: { signingSecret: { signingSecretId: OCT_ID, createdAt: NOW }, secret: 'whsec_new' },
      retireSigningSecret: {},
    })) {
      stage.core.answers.set(method, () => answer);
    }
  });

  const bodyOf = (body: object | undefined): Ask => (body === undefined ? {} : { body });

  for (const [method, path, body, asked, request, answered, answer] of ROUTES) {
    it(`${method} ${path} calls core in the name of the API key, and answers`, async () => {
      const { status, body: told } = await stage.ask(method, path, bodyOf(body));
      assert.equal(status, answered, JSON.stringify(told));
      assert.deepEqual(told, answer);
      const call = stage.core.calls.find((each) => each.method === asked) ?? assert.fail();
      for (const [name, value] of Object.entries({ ...request, merchantId: 'acme' })) {
        assert.equal(call.request[name], value, name);
      }
      for (const { token, apiKeySha256 } of stage.core.calls) {
        assert.deepEqual([token, apiKeySha256], [TOKEN, createHash('sha256').update(API_KEY).digest('base64')]);
      }
    });

    it(`${method} ${path} refuses a key without the permission, as core does, and an unknown one`, async () => {
      const message = 'the API key may not manage the webhook; an operator creates one that may';
      stage.core.answers.set(asked, () => {
        throw refusal(status.PERMISSION_DENIED, { reason: 'FORBIDDEN', message });
      });
      const refused = await stage.ask(method, path, bodyOf(body));
      assert.deepEqual([refused.status, refused.body.code], [403, 'FORBIDDEN']);
      assert.equal(refused.body.detail, 'The API key may not manage the webhook; an operator creates one that may.');
      for (const apiKey of [null, 'hf_wrong']) {
        assert.equal((await stage.ask(method, path, { ...bodyOf(body), apiKey })).status, 401);
      }
    });
  }

  it('shows why nothing is delivered', async () => {
    const endpoint = {
      merchantId: 'acme',
      endpointKind: 1,
      endpointId: 'default',
      pause: 1,
      failureCount: 3,
      changedAt: NOW,
    };
    const inner = { ...endpoint, endpointKind: 2, endpointId: 'internal', failureCount: 9 };
    stage.core.answers.set('listEndpoints', () => ({ endpoints: [inner, endpoint] }));
    const { body } = await stage.ask('GET', '/webhook-endpoint');
    assert.deepEqual(body, { ...WEBHOOK_JSON, pause: 'GONE', failureCount: 3 });
  });

  it('passes on every filter of the deliveries', async () => {
    const query =
      `endpointKind=WEBHOOK&endpointId=default&state=DEAD&requestId=r-1&holdRequestId=${HOLD_ID}&pageSize=7&pageToken=t` +
      '&createdFrom=2026-11-21T12:00:00.123Z&createdTo=2026-11-22T12:00:00Z';
    assert.equal((await stage.ask('GET', `/deliveries?${query}`)).status, 200);
    const { createdFrom, createdTo, ...same } = stage.core.lastRequest;
    assert.deepEqual(createdFrom, NOW);
    assert.equal((createdTo as { seconds: bigint }).seconds, 1_795_348_800n);
    assert.deepEqual(same, {
      merchantId: 'acme',
      endpointKind: 1,
      endpointId: 'default',
      state: 3,
      requestId: 'r-1',
      holdRequestId: HOLD_ID,
      pageSize: 7,
      pageToken: 't',
    });
  });

  const BAD: readonly [string, string, string, unknown, number][] = [
    ['an address that is missing', 'PUT', '/webhook-endpoint', {}, 400],
    ['an address that is empty', 'PUT', '/webhook-endpoint', { webhookUrl: '' }, 400],
    ['an address that is no text', 'PUT', '/webhook-endpoint', { webhookUrl: 1 }, 400],
    ['an address that is too long', 'PUT', '/webhook-endpoint', { webhookUrl: `https://m/${'x'.repeat(2_048)}` }, 400],
    ['an address with a card number', 'PUT', '/webhook-endpoint', { webhookUrl: 'https://m/4242424242424242' }, 400],
    ['an internalUrl', 'PUT', '/webhook-endpoint', { webhookUrl: 'https://m', internalUrl: 'https://i' }, 400],
    ['no body', 'PUT', '/webhook-endpoint', undefined, 415],
    ["another merchant's name", 'PUT', '/webhook-endpoint', { webhookUrl: null, merchantId: 'bolt' }, 403],
    ["another merchant's name", 'POST', '/webhook-endpoint/test', { merchantId: 'bolt' }, 403],
    ['a field where none is due', 'POST', '/webhook-endpoint/test', { amount: 1 }, 400],
    ['a field where none is due', 'POST', '/signing-secrets', { secret: 'whsec_mine' }, 400],
    ['a field where none is due', 'POST', `/deliveries/${OCT_ID}/replay`, { now: true }, 400],
    ['a state that there is not', 'GET', '/deliveries?state=GONE', undefined, 400],
    ['a time that is none', 'GET', '/deliveries?createdFrom=yesterday', undefined, 400],
    ["another merchant's deliveries by name", 'GET', '/deliveries?merchantId=bolt', undefined, 400],
    ['a delivery that is none', 'GET', '/deliveries/x', undefined, 404],
    ['a delivery that is none', 'POST', '/deliveries/x/replay', {}, 404],
    ['a secret that is none', 'DELETE', '/signing-secrets/x', undefined, 404],
  ];
  for (const [what, method, path, body, refused] of BAD) {
    it(`${method} ${path} refuses ${what} with ${refused}, without calling core`, async () => {
      const answer = await stage.ask(method, path, body === undefined ? {} : { body });
      assert.equal(answer.status, refused, answer.text);
      assert.deepEqual(stage.core.calls, []);
    });
  }

  it('passes on when the older secret expires, and refuses a time that is none', async () => {
    const olderExpiresAt = '2026-12-21T12:00:00.000Z';
    assert.equal((await stage.ask('POST', '/signing-secrets', { body: { olderExpiresAt } })).status, 201);
    const [call] = stage.core.calls.filter(({ method }) => method === 'addSigningSecret');
    assert.deepEqual(call?.request.olderExpiresAt, timestampFromDate(new Date(olderExpiresAt)));
    const refused = await stage.ask('POST', '/signing-secrets', { body: { olderExpiresAt: 'soon' } });
    assert.deepEqual([refused.status, refused.body.errors?.[0]?.field], [400, 'olderExpiresAt']);
  });

  it('returns no delivery for a malformed hold id, without calling core', async () => {
    assert.deepEqual((await stage.ask('GET', '/deliveries?holdRequestId=nope')).body, { items: [] });
    assert.deepEqual(stage.core.calls, []);
  });

  it('refuses a preauthorizationId as a hold id, by name', async () => {
    const { status, body } = await stage.ask('GET', `/deliveries?holdRequestId=${PREAUTHORIZATION_ID}`);
    assert.deepEqual([status, body.errors[0].field], [400, 'holdRequestId']);
    assert.match(body.errors[0].message, /^is a preauthorizationId/);
  });
});
