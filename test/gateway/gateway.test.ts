import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { startGateway } from '../../gateway/gateway.ts';
import { readSettings } from '../../gateway/settings.ts';
import { signNotification } from '../../proto/signature.ts';
import { TOKEN } from './fake-core.ts';
import { HOLD, HOLD_ID, PREAUTHORIZATION_ID } from './rest/examples.ts';
import { API_KEY, Stage } from './stage.ts';

describe('startGateway()', () => {
  const stage = new Stage();
  before(() => stage.open());
  after(() => stage.close());

  it('is alive and ready', async () => {
    assert.deepEqual((await stage.ask('GET', '/healthz', { apiKey: null })).body, { status: 'ok' });
    assert.deepEqual((await stage.ask('GET', '/readyz', { apiKey: null })).body, { status: 'ready' });
  });

  for (const path of [
    '/',
    '/nope',
    '/preauthorization/',
    '/Preauthorization',
    '/preauthorization/a/b',
    '/%',
    '/webhook',
  ]) {
    it(`answers 404 to ${path}`, async () => {
      const answer = await stage.ask('GET', path);
      assert.deepEqual([answer.status, answer.body.code], [404, 'NOT_FOUND']);
    });
  }

  for (const [method, path, allow] of [
    ['DELETE', `/preauthorization/${HOLD_ID}`, 'HEAD, GET'],
    ['PUT', '/oct', 'POST'],
    ['PATCH', '/operations', 'HEAD, GET'],
    ['POST', '/healthz', 'HEAD, GET'],
    ['PROPFIND', '/oct', 'POST'],
  ] as const) {
    it(`answers 405 to ${method} ${path}`, async () => {
      const answer = await stage.ask(method, path);
      assert.deepEqual([answer.status, answer.body.code], [405, 'METHOD_NOT_ALLOWED']);
      assert.equal(answer.headers.get('allow'), allow);
    });
  }

  it('sets the headers of a careful server', async () => {
    const { headers } = await stage.ask('GET', '/healthz');
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.match(headers.get('content-security-policy') ?? '', /default-src/);
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(headers.get('x-powered-by'), null);
  });

  it('writes one line per request, with the route and nothing that was sent', async () => {
    stage.core.answers.set('getPreauthorization', () => ({ preauthorization: HOLD }));
    stage.lines.length = 0;
    const answer = await stage.ask('GET', `/preauthorization/${HOLD_ID}`);
    assert.equal(answer.body.preauthorizationId, PREAUTHORIZATION_ID);
    await stage.ask('GET', `/nope/${PREAUTHORIZATION_ID}?key=${API_KEY}`);
    const lines = stage.lines.map(({ event, fields: { durationMs, ...fields } }) => {
      assert.equal(typeof durationMs, 'number');
      return { event, ...JSON.parse(JSON.stringify(fields)) };
    });
    assert.deepEqual(lines, [
      {
        event: 'request',
        requestId: HOLD_ID,
        merchantId: 'acme',
        method: 'GET',
        route: '/preauthorization/:requestId',
        status: 200,
      },
      { event: 'request', method: 'GET', route: 'none', status: 404 },
    ]);
  });

  const GONE = {
    'before its body is out': `POST /oct HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${API_KEY}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`,
    'while core answers': `GET /operations/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${API_KEY}\r\n\r\n`,
    'in the middle of a notification':
      'POST /webhook/processor/payment/captured HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
  };
  for (const [when, request] of Object.entries(GONE)) {
    it(`writes one line without a stack about a sender that is gone ${when}`, async () => {
      stage.lines.length = 0;
      const begun = Promise.withResolvers<ServerResponse>();
      const begin = (message: unknown) => begun.resolve((message as { response: ServerResponse }).response);
      subscribe('http.server.request.start', begin);
      const socket = connect(stage.gateway.port, '127.0.0.1');
      socket.write(request);
      const gone = once(await begun.promise, 'close');
      unsubscribe('http.server.request.start', begin);
      socket.resetAndDestroy();
      await gone;
      await stage.ask('GET', '/healthz');
      const [line, ...more] = stage.lines.filter(({ fields }) => fields.route !== '/healthz');
      assert.deepEqual(more, []);
      assert.deepEqual([line?.event, line?.fields.aborted, line?.fields.stack], ['request', true, undefined]);
    });
  }

  it('relays notifications', async () => {
    stage.core.answers.set('acceptNotification', () => ({ outcome: 1 }));
    const fields = { merchantId: 'acme', requestId: 'r-1', status: 'OK', amount: '10.50', currency: 'EUR' };
    const body = JSON.stringify(fields);
    const send = (signature: string) =>
      stage.ask('POST', '/webhook/processor/payment/captured', {
        body,
        apiKey: null,
        headers: { 'x-service-signature': signature },
      });
    assert.equal((await send(signNotification('whsec_older', fields))).status, 200);
    assert.equal((await send(signNotification('whsec_other', fields))).status, 401);
    assert.deepEqual(
      stage.core.calls.filter(({ method }) => method === 'acceptNotification').map(({ request }) => request.amount),
      ['10.50'],
    );
  });

  it('rejects when the port is taken', async () => {
    const settings = readSettings({
      GATEWAY_TOKEN: TOKEN,
      CORE_URL: stage.core.address,
      PORT: String(stage.gateway.port),
    });
    await assert.rejects(startGateway(settings, { log: stage.log }), { code: 'EADDRINUSE' });
  });
});

describe('startGateway() without core', () => {
  it('serves, is not ready and lets nobody in', async () => {
    const stage = new Stage();
    stage.core.address = '127.0.0.1:1';
    const settings = readSettings({ GATEWAY_TOKEN: TOKEN, CORE_URL: '127.0.0.1:1', PORT: '0' });
    stage.gateway = await startGateway(settings, { log: stage.log });
    assert.equal((await stage.ask('GET', '/healthz')).status, 200);
    for (const path of ['/readyz', '/operations']) {
      const answer = await stage.ask('GET', path);
      assert.deepEqual([answer.status, answer.body.code, answer.headers.get('retry-after')], [503, 'UNAVAILABLE', '1']);
    }
    await stage.gateway.close();
  });

  it('lets a request at work finish when it stops', async () => {
    const stage = await new Stage().open();
    const asked = Promise.withResolvers<void>();
    let answer: () => void = () => undefined;
    stage.core.onWatch = (call) => {
      answer = () => void call.write(stage.core.watchMessage({ resumeToken: 't' }));
      asked.resolve();
    };
    const stream = stage.fetch('GET', '/operations/stream');
    await asked.promise;
    const closed = stage.gateway.close();
    answer();
    assert.equal((await stream).status, 200);
    await (await stream).text();
    await closed;
    stage.core.stop();
  });
});
