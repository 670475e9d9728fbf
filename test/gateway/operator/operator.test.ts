import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import type { Route } from '../../../gateway/http/route.ts';
import { OPERATOR_ROUTES } from '../../../gateway/operator/operator.ts';
import { OPERATOR_TOKEN, refusal, TOKEN } from '../fake-core.ts';
import { HOLD_ID, NOW_TEXT, OCT_ID, RELEASE_ID } from '../rest/examples.ts';
import { API_KEY, useStage } from '../stage.ts';
import { answerAll, REQUESTS, SECRETS } from './routes.ts';

const BEARER = { apiKey: OPERATOR_TOKEN };

describe('Operator routes', () => {
  const stage = useStage({ TRUSTED_PROXY_HOPS: '1' }, { heartbeatMs: 50 });
  beforeEach(() => answerAll(stage.core));
  /** Each guess comes from another address, so that none is limited. */
  let sender = 0;
  const elsewhere = () => ({ 'x-forwarded-for': `192.0.2.${++sender % 250}` });

  for (const { name, method, path, ask } of REQUESTS) {
    const wrong = {
      nothing: {},
      'an unknown token': { authorization: `Bearer ${'x'.repeat(40)}` },
      'a short token': { authorization: 'Bearer x' },
      'an API key': { authorization: `Bearer ${API_KEY}` },
      "the gateway's token": { authorization: `Bearer ${TOKEN}` },
      'basic credentials': { authorization: `Basic ${Buffer.from(`operator:${OPERATOR_TOKEN}`).toString('base64')}` },
      'a forged cookie': { cookie: `holdfast_operator=${Buffer.alloc(90).toString('base64url')}` },
    };
    for (const [what, headers] of Object.entries(wrong)) {
      it(`${name} rejects ${what}`, async () => {
        const answer = await stage.ask(method, path, {
          ...ask,
          apiKey: null,
          headers: { ...elsewhere(), ...headers },
        });
        assert.equal(answer.status, 401);
        assert.equal(answer.body.code, 'UNAUTHENTICATED');
        assert.deepEqual(stage.core.calls, []);
      });
    }

    it(`${name} answers the operator as documented, and acts in the operator's name`, async () => {
      const headers = { 'x-operator': 'alice' };
      const answer = await stage.ask(method, path, { ...BEARER, ...ask, headers });
      const route: Route = OPERATOR_ROUTES[name];
      const described = route.answers[answer.status];
      assert(described, `${answer.status} ${answer.text}`);
      if (described.schema && !described.mediaType) described.schema.parse(answer.body);
      for (const call of stage.core.calls) assert.deepEqual([call.token, call.operator], [OPERATOR_TOKEN, 'alice']);
      assert(name === 'getSession' || name === 'signOut' || stage.core.calls.length > 0);
    });

    it(`${name} reveals no secret`, async () => {
      const { text } = await stage.ask(method, path, { ...BEARER, ...ask });
      for (const [what, secret] of Object.entries(SECRETS)) assert(!text.includes(secret), what);
      const creates = /^(createMerchant(Endpoint)?|createApiKey|add(MerchantEndpoint|Signing)Secret)$/.test(name);
      assert.equal(/hf_|whsec_/.test(text), creates);
      const lines = JSON.stringify(stage.lines);
      for (const secret of [...Object.values(SECRETS), OPERATOR_TOKEN, 'hf_new', 'whsec_new'])
        assert(!lines.includes(secret));
    });
  }

  it('return what core returns', async () => {
    const get = async (path: string) => (await stage.ask('GET', path, BEARER)).body;
    assert.deepEqual((await get('/operator/overview')).oldestUnknownAt, NOW_TEXT);
    assert.equal((await get('/operator/overview')).deadDeliveryCount, 0);
    assert.deepEqual((await get('/operator/overview/series?minutes=5')).items[0].okCount, 3);
    assert.deepEqual(await get('/operator/audit?target=acme'), {
      items: [
        {
          auditEntryId: OCT_ID,
          at: NOW_TEXT,
          actor: 'operator/alice',
          action: 'a.b',
          target: 'acme',
          detail: { c: 1 },
        },
      ],
      nextPageToken: 'more',
    });
    const hold = await get(`/operator/holds/${HOLD_ID}`);
    assert.equal(hold.phase, 'AUTHORIZED');
    assert.equal(hold.frozen, true);
    assert.deepEqual(
      hold.operations.map(({ requestId }: { requestId: string }) => requestId),
      [HOLD_ID, RELEASE_ID],
    );
    assert.equal(hold.deliveries[0].state, 'DEAD');
    assert.equal((await get(`/operator/merchants/acme`)).contract.holdPeriodSeconds, 604_800);
    const [review] = (await get('/operator/reviews')).items;
    assert.deepEqual([review.reason, review.operation, review.ageSeconds], ['NEEDS_REVIEW', 'CAPTURE', 90]);
  });

  for (const [path, method, line] of [
    ['/operator/holds', 'listPreauthorizations', /^requestId,.*,frozen,.*\r\n.*,100\.00,"EUR",.*\r\n.*\r\n$/],
    ['/operator/operations', 'listOperations', /^requestId,.*\r\n.*,"RELEASE",.*\r\n.*\r\n$/],
  ] as const) {
    it(`return all pages of ${path} as CSV, in the operator's name`, async () => {
      const page = stage.core.answers.get(method)?.({}) as object;
      stage.core.answers.set(method, ({ pageToken }) => ({ ...page, nextPageToken: pageToken === '' ? 'more' : '' }));
      const headers = { accept: 'text/csv', 'x-operator': 'alice' };
      const { text } = await stage.ask('GET', `${path}?merchantId=acme`, { ...BEARER, headers });
      assert.match(text, line);
      assert.deepEqual(
        stage.core.calls.map(({ request, operator }) => [request.merchantId, request.pageToken, operator]),
        [
          ['acme', '', 'alice'],
          ['acme', 'more', 'alice'],
        ],
      );
    });
  }

  it('pass on the request', async () => {
    const asked = async (method: string, path: string, body?: object) => {
      const answer = await stage.ask(method, path, { ...BEARER, ...(body && { body }) });
      assert(answer.status < 300, answer.text);
      const { $typeName: _, $unknown: __, operationRequestId: ___, ...request } = stage.core.lastRequest;
      return Object.fromEntries(Object.entries(request).filter(([, value]) => value && value !== 0n));
    };
    assert.deepEqual(await asked('GET', '/operator/holds?merchantReference=o-1&merchantId=acme&status=EXPIRED'), {
      merchantReference: 'o-1',
      merchantId: 'acme',
      status: 5,
    });
    assert.deepEqual(await asked('POST', `/operator/holds/${HOLD_ID}/capture`, { amountToCapture: 5 }), {
      requestId: HOLD_ID,
      amountToCapture: 5n,
      metadata: {},
    });
    assert.deepEqual(await asked('GET', '/operator/deliveries?state=DEAD&endpointKind=INTERNAL&pageSize=3'), {
      state: 3,
      endpointKind: 2,
      pageSize: 3,
    });
    const resolution = { outcome: 'KO', reason: 'why', processorCode: 'x', unfreezeHold: true };
    const { processorError, ...resolved } = await asked('POST', `/operator/reviews/${HOLD_ID}/resolve`, resolution);
    assert.deepEqual(resolved, { requestId: HOLD_ID, outcome: 5, reason: 'why', unfreezeHold: true });
    assert.equal((processorError as { code: string }).code, 'x');
    assert.deepEqual(await asked('POST', '/operator/endpoints/acme/internal/pause'), {
      merchantId: 'acme',
      endpointKind: 2,
    });
    assert.deepEqual(await asked('DELETE', `/operator/merchants/acme/api-keys/${OCT_ID}`), {
      merchantId: 'acme',
      apiKeyId: OCT_ID,
    });
    const { contract } = await asked('PUT', '/operator/merchants/acme', {
      name: 'A',
      contract: {
        allowMultipleCaptures: false,
        currencies: ['EUR'],
        terminals: ['T1'],
        holdPeriodSeconds: 60,
        notifyHolds: false,
      },
    });
    const { holdPeriod, notifyHolds } = contract as { holdPeriod: { seconds: bigint }; notifyHolds: boolean };
    assert.deepEqual([holdPeriod.seconds, notifyHolds], [60n, false]);
  });

  it('return 202 while the outcome of a capture or release is unknown', async () => {
    stage.core.answers.set('capturePreauthorization', () => ({
      capture: { requestId: RELEASE_ID, holdRequestId: HOLD_ID, state: 2 },
    }));
    const body = { amountToCapture: 5 };
    const answer = await stage.ask('POST', `/operator/holds/${HOLD_ID}/capture`, { ...BEARER, body });
    assert.equal(answer.status, 202);
    assert.deepEqual(answer.body, { requestId: RELEASE_ID, holdRequestId: HOLD_ID, status: 'IN_PROGRESS' });
  });

  it('stream results of all merchants, and of one', async () => {
    const watching = stage.core.nextWatch();
    stage.core.onWatch = (call) => call.write(stage.core.watchMessage({ resumeToken: 'start' }));
    const answer = await stage.fetch('GET', '/operator/operations/stream?merchantId=acme', BEARER);
    await watching;
    assert.match(answer.headers.get('content-type') ?? '', /^text\/event-stream/);
    assert.equal(stage.core.lastRequest.merchantId, 'acme');
    assert.equal(stage.core.calls.at(-1)?.token, OPERATOR_TOKEN);
    await answer.body?.cancel();
  });

  const BAD: [string, string, string, object?][] = [
    ['an unknown filter', 'GET', '/operator/holds?colour=red'],
    ['an unknown word', 'GET', '/operator/deliveries?state=LOST'],
    ['too large a page', 'GET', '/operator/audit?pageSize=201'],
    ['too many minutes', 'GET', '/operator/overview/series?minutes=181'],
    ['no amount', 'POST', `/operator/holds/${HOLD_ID}/capture`, {}],
    ['a handle', 'POST', `/operator/holds/${HOLD_ID}/capture`, { amountToCapture: 1, preauthorizationId: 'pre_x' }],
    ['an amount that is no integer', 'POST', `/operator/holds/${HOLD_ID}/capture`, { amountToCapture: 1.5 }],
    ['no reason', 'POST', `/operator/reviews/${HOLD_ID}/resolve`, { outcome: 'OK' }],
    ['no decision', 'POST', `/operator/reviews/${HOLD_ID}/resolve`, { reason: 'why' }],
    ['a card number', 'POST', `/operator/reviews/${HOLD_ID}/resolve`, { outcome: 'OK', reason: '4111111111111111' }],
    ['no contract', 'POST', '/operator/merchants', { merchantId: 'm', name: 'M' }],
    ['a merchantId that is none', 'POST', '/operator/merchants', { merchantId: '1', name: 'M', contract: {} }],
    ['a body where none is due', 'POST', `/operator/deliveries/${OCT_ID}/replay`, { now: true }],
  ];
  it('ask for a reason when a decision concerns several captures', async () => {
    const body = { merchantId: 'm', name: 'M', contract: { currencies: ['EUR'], terminals: ['T1'] } };
    const answer = await stage.ask('POST', '/operator/merchants', { ...BEARER, body });
    assert.deepEqual(answer.body.errors, [
      {
        field: 'contract.allowMultipleCaptures',
        message:
          'is required: true allows several captures of a hold; with false the first one closes it and releases what ' +
          'is left',
      },
    ]);
  });

  it('name the list that has something twice', async () => {
    const contract = { allowMultipleCaptures: true, currencies: ['EUR', 'EUR'], terminals: ['T1', 'T1'] };
    const body = { merchantId: 'm', name: 'M', contract };
    const answer = await stage.ask('POST', '/operator/merchants', { ...BEARER, body });
    const message = 'must not name anything twice';
    const fields = ['contract.currencies', 'contract.terminals'];
    assert.deepEqual(
      answer.body.errors,
      fields.map((field) => ({ field, message })),
    );
  });

  it('name keys and secrets consistently', async () => {
    const contract = { allowMultipleCaptures: true, currencies: ['EUR'], terminals: ['T1'] };
    const body = { merchantId: 'bolt', name: 'Bolt', contract };
    const created = await stage.ask('POST', '/operator/merchants', { ...BEARER, body });
    const key = await stage.ask('POST', '/operator/merchants/acme/api-keys', BEARER);
    const secret = await stage.ask('POST', '/operator/merchants/acme/signing-secrets', BEARER);
    assert.deepEqual([created.body.apiKey, created.body.signingSecret], ['hf_new', 'whsec_new']);
    assert.deepEqual([key.body.apiKey, secret.body.signingSecret], ['hf_new', 'whsec_new']);
  });

  for (const [what, method, path, body] of BAD) {
    it(`refuse ${what}`, async () => {
      const answer = await stage.ask(method, path, { ...BEARER, ...(body && { body }) });
      assert.equal(answer.status, 400);
      assert.equal(answer.body.code, 'INVALID_REQUEST');
      assert(answer.body.errors.length > 0);
      assert.deepEqual(stage.core.calls, []);
    });
  }

  for (const path of [
    '/operator/holds/x',
    '/operator/deliveries/x',
    '/operator/merchants/a%00b',
    '/operator/operations/x',
  ]) {
    it(`return 404 for ${path} without calling core`, async () => {
      assert.equal((await stage.ask('GET', path, BEARER)).status, 404);
      assert.deepEqual(stage.core.calls, []);
    });
  }

  it('refuse bodies that are too large, of another type, or with a key twice', async () => {
    const path = `/operator/holds/${HOLD_ID}/capture`;
    const large = { amountToCapture: 1, x: 'x'.repeat(70_000) };
    assert.equal((await stage.ask('POST', path, { ...BEARER, body: large })).status, 413);
    const form = { ...BEARER, body: 'amountToCapture=1', headers: { 'content-type': 'text/plain' } };
    assert.equal((await stage.ask('POST', path, form)).status, 415);
    const twice = '{"amountToCapture":1,"amountToCapture":2}';
    assert.equal((await stage.ask('POST', path, { ...BEARER, body: twice })).status, 400);
  });

  it('refuse an invalid operator name', async () => {
    const answer = await stage.ask('GET', '/operator/overview', { ...BEARER, headers: { 'x-operator': '1/2' } });
    assert.equal(answer.status, 400);
    assert.deepEqual(answer.body.errors[0].field, 'X-Operator');
  });

  it("return 503 while core is down, and pass on core's refusals", async () => {
    stage.core.answers.set('getOverview', () => {
      throw refusal(status.UNAVAILABLE, {});
    });
    assert.equal((await stage.ask('GET', '/operator/overview', BEARER)).status, 503);
    stage.core.answers.set('getMerchant', () => {
      throw refusal(status.NOT_FOUND, { reason: 'OPERATION_NOT_FOUND' });
    });
    assert.equal((await stage.ask('GET', '/operator/merchants/nobody', BEARER)).body.code, 'OPERATION_NOT_FOUND');
  });
});
