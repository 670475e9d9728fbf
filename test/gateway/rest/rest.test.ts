import assert from 'node:assert/strict';
import { Registry } from 'prom-client';
import type { Core } from '../../../gateway/core/client.ts';
import type { Credentials } from '../../../gateway/core/credentials.ts';
import { limitStreams } from '../../../gateway/event-stream/stream-limit.ts';
import type { Limiter } from '../../../gateway/limits/limits.ts';
import { ExportLimit } from '../../../gateway/resource/csv.ts';
import { limitInFlight } from '../../../gateway/rest/limit-in-flight.ts';
import { createRest } from '../../../gateway/rest/rest.ts';
import { atOneMoment } from '../at-one-moment.ts';
import { API_KEY, MERCHANTS, OTHER_API_KEY, Stage, useStage } from '../stage.ts';
import { HOLD_ID } from './examples.ts';

/** The router's own routes, so that a new one cannot be forgotten here. */
const router = createRest({
  core: {} as Core,
  credentials: {} as Credentials,
  limiter: {} as Limiter,
  inFlight: limitInFlight(1, new Registry()),
  log: new Stage().log,
  closing: new AbortController().signal,
  streamLimit: limitStreams(1, {} as Limiter),
  exportLimit: new ExportLimit(),
  heartbeatMs: 1,
});
const ENDPOINT_ID = `webhook-${HOLD_ID}`;
const ROUTES = router.stack.flatMap((layer) =>
  layer.methods.map((method) => ({
    method,
    path: String(layer.path)
      .replace(':endpointId', ENDPOINT_ID)
      .replace(/:\w+Id/, HOLD_ID),
  })),
);

describe('REST routes', () => {
  const stage = useStage({ REST_RATE_PER_SECOND: '100000' });
  beforeEach(() => {
    stage.core.setMerchants(MERCHANTS);
  });

  it('are those of the specification', () => {
    const written = ROUTES.filter(({ method }) => method !== 'HEAD').map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(written, [
      'POST /preauthorization',
      'GET /preauthorization',
      `GET /preauthorization/${HOLD_ID}`,
      `PATCH /preauthorization/${HOLD_ID}`,
      'POST /preauthorization/authorization',
      'POST /preauthorization/release',
      'POST /preauthorization/increment',
      'POST /preauthorization/extend',
      'POST /preauthorization/renew',
      'GET /operations',
      'GET /operations/stream',
      `GET /operations/${HOLD_ID}`,
      'POST /refund',
      `GET /refund/${HOLD_ID}`,
      'POST /oct',
      `GET /oct/${HOLD_ID}`,
      'GET /contract',
      'GET /webhook-endpoint',
      'PUT /webhook-endpoint',
      'POST /webhook-endpoint/test',
      'POST /signing-secrets',
      `DELETE /signing-secrets/${HOLD_ID}`,
      'GET /webhook-endpoints',
      'POST /webhook-endpoints',
      `GET /webhook-endpoints/${ENDPOINT_ID}`,
      `PATCH /webhook-endpoints/${ENDPOINT_ID}`,
      `DELETE /webhook-endpoints/${ENDPOINT_ID}`,
      `POST /webhook-endpoints/${ENDPOINT_ID}/test`,
      `POST /webhook-endpoints/${ENDPOINT_ID}/signing-secrets`,
      `DELETE /webhook-endpoints/${ENDPOINT_ID}/signing-secrets/${HOLD_ID}`,
      'GET /notifications/stream',
      'GET /deliveries',
      `GET /deliveries/${HOLD_ID}`,
      `POST /deliveries/${HOLD_ID}/replay`,
      'POST /deliveries/recover',
      'GET /relay-senders',
      'POST /relay-senders',
      `GET /relay-senders/${HOLD_ID}`,
      `PUT /relay-senders/${HOLD_ID}`,
      `DELETE /relay-senders/${HOLD_ID}`,
      'GET /relay/failures',
      'GET /relayed-notifications/stream',
    ]);
  });

  for (const { method, path } of ROUTES) {
    const wrong = {
      none: {},
      empty: { authorization: 'Bearer ' },
      unknown: { authorization: `Bearer hf_${'x'.repeat(43)}` },
      basic: { authorization: `Basic ${Buffer.from(`acme:${API_KEY}`).toString('base64')}` },
      'cut short': { authorization: `Bearer ${API_KEY.slice(0, -1)}` },
      'a hash': { authorization: `Bearer ${Buffer.alloc(32).toString('base64')}` },
    };
    for (const [name, headers] of Object.entries(wrong)) {
      it(`${method} ${path} requires a key: ${name}`, async () => {
        const answer = await stage.ask(method, path, { apiKey: null, headers });
        assert.equal(answer.status, 401);
        assert.equal(answer.headers.get('www-authenticate'), 'Bearer realm="holdfast"');
        if (method !== 'HEAD') assert.equal(answer.body.code, 'UNAUTHENTICATED');
        assert.deepEqual(stage.core.calls, []);
      });
    }
  }

  it('reject a revoked key', async () => {
    stage.core.answers.set('listPreauthorizations', () => ({}));
    assert.equal((await stage.ask('GET', '/preauthorization', { apiKey: OTHER_API_KEY })).status, 200);
    stage.core.setMerchants([{ merchantId: 'bolt', apiKeys: [] }]);
    let status = 200;
    while (status === 200) status = (await stage.ask('GET', '/preauthorization', { apiKey: OTHER_API_KEY })).status;
    assert.equal(status, 401);
    assert.equal((await stage.ask('GET', '/preauthorization')).status, 200);
  });
});

describe('REST rate limit', () => {
  const stage = useStage({ REST_RATE_PER_SECOND: '3' });

  it('returns 429 to one key and does not affect another', async () => {
    stage.core.answers.set('listPreauthorizations', () => ({}));
    const answers = await atOneMoment(() =>
      Promise.all(Array.from({ length: 7 }, () => stage.ask('GET', '/preauthorization'))),
    );
    const limited = answers.filter(({ status }) => status === 429);
    assert.equal(limited.length, 4);
    for (const { body, headers } of limited) {
      assert.equal(body.code, 'RATE_LIMITED');
      assert.equal(headers.get('retry-after'), '1');
      assert.equal(headers.get('ratelimit-limit'), '3');
      assert.equal(headers.get('ratelimit-remaining'), '0');
      assert.equal(headers.get('ratelimit-reset'), '1');
    }
    const other = await stage.ask('GET', '/preauthorization', { apiKey: OTHER_API_KEY });
    assert.equal(other.status, 200);
    assert.equal(other.headers.get('ratelimit-remaining'), '2');
  });

  it('is checked after the key', async () => {
    for (let i = 0; i < 5; i++) assert.equal((await stage.ask('GET', '/oct/1', { apiKey: null })).status, 401);
  });
});
