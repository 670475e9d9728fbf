import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { signNotification } from '../../client/webhooks/signature.ts';
import { startGateway } from '../../gateway/gateway.ts';
import { GATEWAY_SETTINGS } from '../../gateway/settings.ts';
import { readSettings } from '../../platform/settings.ts';
import { signingSecret } from '../signing-secret.ts';
import { OPERATOR_TOKEN, TOKEN } from './fake-core.ts';
import { HOLD, HOLD_ID, PREAUTHORIZATION_ID } from './rest/examples.ts';
import { API_KEY, Stage, useStage } from './stage.ts';

describe('startGateway()', () => {
  const stage = useStage();

  it('is alive and ready', async () => {
    assert.deepEqual((await stage.ask('GET', '/healthz', { apiKey: null })).body, { status: 'ok' });
    assert.deepEqual((await stage.ask('GET', '/readyz', { apiKey: null })).body, { status: 'ready' });
  });

  for (const path of [
    '/nope',
    '/preauthorization/',
    '/Preauthorization',
    '/preauthorization/a/b',
    '/%',
    '/webhook',
    '/CONSOLE',
    '/console/App.js',
    '/Metrics',
    '/metrics/',
    '/Healthz',
    '/readyz/',
    '/Docs',
    '/OpenAPI.json',
    '/openapi.json/',
    '/openapi',
    '/openapi/merchant.json/',
    '/docs/operator',
    '/Operator/overview',
    '/operator/overview/',
    '/operator/session/',
    '/operator/Merchants',
    '/operations/stream/',
    '/oct/',
  ]) {
    it(`answers 404 to ${path}`, async () => {
      const answer = await stage.ask('GET', path);
      assert.deepEqual([answer.status, answer.body.code], [404, 'NOT_FOUND']);
    });
  }

  for (const [method, path, allow] of [
    ['DELETE', `/preauthorization/${HOLD_ID}`, 'HEAD, GET, PATCH'],
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

  const raw = async (target: string, method = 'GET') => {
    const socket = connect(stage.gateway.port, '127.0.0.1');
    socket.write(`${method} ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`, 'latin1');
    const answer = await text(socket);
    return { status: Number(answer.slice(9, 12)), body: answer.slice(answer.indexOf('\r\n\r\n') + 4) };
  };

  for (const target of [
    'http://[',
    'http://',
    'http://?x',
    'http:///healthz',
    'http://[::1/healthz',
    'http://a:b/healthz',
    'http://a@b/healthz',
    'http://a\\healthz',
    'https://%/healthz',
    '/healthz#x',
    '/healthz\xa0',
    '/healthz\xff',
  ]) {
    it(`answers 400 to the request target ${JSON.stringify(target)}`, async () => {
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const { status, body } = await raw(target, method);
        assert.equal(status, 400, method);
        // Node's parser rejects some targets itself, without a body.
        if (body !== '') assert.equal(JSON.parse(body).code, 'INVALID_REQUEST');
      }
    });
  }

  it('takes a request target in absolute form', async () => {
    for (const target of [
      'http://x/healthz',
      'HTTPS://other.example:8080/healthz?a',
      'http://[::1]:1/healthz',
      '/healthz?a',
    ]) {
      assert.deepEqual(await raw(target), { status: 200, body: '{"status":"ok"}' }, target);
    }
    for (const target of [
      'http://x/x',
      'http://x/Healthz',
      'http://x/x?/healthz',
      '//healthz',
      '//x/healthz',
      '/./healthz',
      '/%68ealthz',
    ]) {
      assert.equal((await raw(target)).status, 404, target);
    }
    assert.equal((await raw('*', 'OPTIONS')).status, 404);
    assert.equal((await raw('http://x/webhook/processor/payment/captured', 'GET')).status, 405);
  });

  it('sets security headers', async () => {
    const { headers } = await stage.ask('GET', '/healthz');
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('content-security-policy'), "default-src 'none'; frame-ancestors 'none'");
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(headers.get('x-powered-by'), null);
  });

  it('writes one line per request, with the route and nothing that the client sent', async () => {
    stage.core.answers.set('getPreauthorization', () => ({ preauthorization: HOLD }));
    stage.lines.length = 0;
    const answer = await stage.ask('GET', `/preauthorization/${HOLD_ID}`);
    assert.equal(answer.body.preauthorizationId, PREAUTHORIZATION_ID);
    await stage.ask('GET', `/nope/${PREAUTHORIZATION_ID}?key=${API_KEY}`);
    const lines = stage.lines.map(({ event, fields: { durationMs, httpRequestId, ...fields } }) => {
      assert.deepEqual([typeof durationMs, typeof httpRequestId], ['number', 'string']);
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
    'before its body is out':
      `POST /oct HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${API_KEY}\r\nContent-Type: ` +
      'application/json\r\nContent-Length: 9\r\n\r\n{',
    'while core answers': `GET /operations/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${API_KEY}\r\n\r\n`,
    'in the middle of a notification':
      'POST /webhook/processor/payment/captured HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' +
      'Content-Length: 9\r\n\r\n{',
  };
  for (const [when, request] of Object.entries(GONE)) {
    it(`writes one line without a stack when a client disconnects ${when}`, async () => {
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
    assert.equal((await send(signNotification(signingSecret('older'), fields))).status, 200);
    assert.equal((await send(signNotification(signingSecret('other'), fields))).status, 401);
    assert.deepEqual(
      stage.core.calls.filter(({ method }) => method === 'acceptNotification').map(({ request }) => request.amount),
      ['10.50'],
    );
  });

  it('rejects when the port is taken', async () => {
    const settings = readSettings(GATEWAY_SETTINGS, {
      GATEWAY_TOKEN: TOKEN,
      CORE_URL: stage.core.address,
      PORT: String(stage.gateway.port),
    });
    await assert.rejects(startGateway(settings, { log: stage.log }), { code: 'EADDRINUSE' });
  });
});

describe('startGateway() with unknown senders', () => {
  const hops = async (count: string) => new Stage().open({ TRUSTED_PROXY_HOPS: count });
  const warnings = (stage: Stage) => stage.lines.filter(({ event }) => /X-Forwarded-For/.test(event));

  it('warns once of X-Forwarded-For while no proxy is trusted', async () => {
    const stage = await hops('0');
    await stage.ask('GET', '/healthz');
    assert.equal(warnings(stage).length, 0);
    for (let i = 0; i < 3; i++) await stage.ask('GET', '/healthz', { headers: { 'x-forwarded-for': '192.0.2.1' } });
    assert.deepEqual(
      warnings(stage).map(({ fields }) => fields.address),
      ['127.0.0.1'],
    );
    await stage.close();
    const trusting = await hops('1');
    await trusting.ask('GET', '/healthz', { headers: { 'x-forwarded-for': '192.0.2.1' } });
    assert.deepEqual(warnings(trusting), []);
    await trusting.close();
  });

  it('counts a sender once, whatever port its proxy appends to its address', async () => {
    const stage = await hops('1');
    const statuses = [];
    for (let i = 0; i < 6; i++) {
      const headers = { 'x-forwarded-for': `9.9.9.8:${1_000 + i}` };
      const ask = { apiKey: null, body: { token: 'x'.repeat(40) }, headers };
      statuses.push((await stage.ask('POST', '/operator/session', ask)).status);
    }
    assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429]);
    assert.deepEqual(
      stage.lines.filter(({ event }) => event === 'operator penalty').map(({ fields }) => fields.address),
      ['9.9.9.8'],
    );
    await stage.close();
  });

  for (const [path, status] of [
    ['/oct', 401],
    ['/nope', 404],
    ['/healthz', 405],
    ['/webhook/processor/payment/captured', 415],
  ] as const) {
    it(`returns ${status} for an endless body on ${path}, and reads a few MiB of it at most`, async () => {
      const stage = await hops('0');
      const socket = connect(stage.gateway.port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000000\r\n\r\n`);
      const [head] = await once(socket, 'data');
      assert.equal(Number(String(head).slice(9, 12)), status);
      const closed = new Promise((resolve) => socket.once('close', resolve));
      const chunk = Buffer.alloc(64 * 1024);
      const send = () => {
        while (!socket.destroyed && socket.write(chunk));
      };
      socket.on('drain', send);
      send();
      await closed;
      assert.ok(socket.bytesWritten < 100 * 2 ** 20, `${socket.bytesWritten} bytes`);
      await stage.close();
    });
  }
});

describe('startGateway() without core', () => {
  it('serves, is not ready and rejects all credentials', async () => {
    const stage = new Stage();
    stage.core.address = '127.0.0.1:1';
    const settings = readSettings(GATEWAY_SETTINGS, { GATEWAY_TOKEN: TOKEN, CORE_URL: '127.0.0.1:1', PORT: '0' });
    stage.gateway = await startGateway(settings, { log: stage.log });
    assert.equal((await stage.ask('GET', '/healthz')).status, 200);
    for (const path of ['/readyz', '/operations']) {
      const answer = await stage.ask('GET', path);
      assert.deepEqual([answer.status, answer.body.code, answer.headers.get('retry-after')], [503, 'UNAVAILABLE', '1']);
    }
    await stage.gateway.close();
  });

  it('is not ready while its clock is too far behind for its deadlines, and says how far', async () => {
    const stage = new Stage();
    // More than CORE_TIMEOUT_MS by as much as an answer may take to come.
    stage.core.clockAheadMs = 20_000;
    await stage.open();
    await stage.logged(({ event }) => event === 'clock_off');
    const off = stage.lines.find(({ event }) => event === 'clock_off')?.fields.clockOffsetS;
    assert(typeof off === 'number' && off < -15 && off > -21, `${off}`);
    assert.equal((await stage.ask('GET', '/readyz')).status, 503);
    const { text: metrics } = await stage.ask('GET', '/metrics', { apiKey: OPERATOR_TOKEN });
    assert.match(metrics, /^holdfast_clock_offset_seconds -(1[5-9]|20)/m);
    await stage.close();
  });

  it('says that it is not known what became of a change when the connection to core breaks meanwhile', async () => {
    const stage = await new Stage().open();
    stage.core.answers.set('addSigningSecret', () => {
      setImmediate(() => stage.core.stop());
      return new Promise(() => undefined);
    });
    const answer = await stage.ask('POST', '/signing-secrets', { body: {} });
    assert.deepEqual([answer.status, answer.body.code], [504, 'OUTCOME_UNKNOWN']);
    await stage.close();
  });

  it('completes a request in progress when it stops', async () => {
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
