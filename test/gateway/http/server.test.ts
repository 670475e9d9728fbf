import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { createGatewayServer } from '../../../gateway/http/server.ts';

describe('createGatewayServer()', () => {
  const open = async () => {
    const { server, listen, drain } = createGatewayServer((_request, response) => response.end('ok'));
    return { server, drain, port: await listen(0, '127.0.0.1') };
  };

  it('has a short timeout for requests', async () => {
    const { server, drain } = await open();
    assert.ok(server.headersTimeout <= 10_000);
    assert.ok(server.requestTimeout <= 10_000);
    await drain();
  });

  it('refuses a port that is in use', async () => {
    const first = await open();
    const second = createGatewayServer((_request, response) => response.end('ok'));
    await assert.rejects(second.listen(first.port, '127.0.0.1'), { code: 'EADDRINUSE' });
    await first.drain();
    const plain = createServer().listen(0, '127.0.0.1');
    await once(plain, 'listening');
    await assert.rejects(second.listen((plain.address() as AddressInfo).port, '127.0.0.1'), { code: 'EADDRINUSE' });
    plain.close();
  });

  it('stops although one connection sends nothing and another half a request', async () => {
    const { server, drain, port } = await open();
    const sockets = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
    sockets[1]?.write('GET / HTTP/1.1\r\nHost: ');
    await once(server, 'connection');
    await once(server, 'connection');
    const closed = sockets.map((socket) => new Promise((resolve) => socket.on('error', resolve).on('close', resolve)));
    await drain();
    await Promise.all(closed);
  });

  /** What a connection is answered that sends only this. */
  const converse = async (port: number, sent: string) => {
    const socket = connect(port, '127.0.0.1');
    socket.write(sent);
    const answer = await text(socket);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    return { answer, head, problem: body && JSON.parse(body) };
  };

  it('answers a request that does not arrive in time with 408 and Retry-After, as a problem', async () => {
    const { server, drain, port } = await open();
    server.headersTimeout = 50;
    server.requestTimeout = 50;
    const { head, problem } = await converse(port, 'POST /preauthorization HTTP/1.1\r\nHost: ');
    assert.match(head, /^HTTP\/1\.1 408 Request Timeout\r\n/);
    assert.match(head, /\r\nRetry-After: 1\r\n/);
    assert.match(head, /\r\nContent-Type: application\/problem\+json\r\n/);
    assert.equal(problem.code, 'REQUEST_TIMEOUT');
    await drain();
  });

  const get = (headers: string) => `GET / HTTP/1.1\r\nHost: test\r\n${headers}\r\n\r\n`;
  for (const [fault, sent, status, code] of [
    ['no HTTP at all', 'nonsense\r\n\r\n', 400, 'INVALID_REQUEST'],
    ['17 KiB of headers', get(`x: ${'x'.repeat(17 * 1024)}`), 431, 'INVALID_REQUEST'],
    [
      '17 KiB of chunk extensions',
      `${get('Transfer-Encoding: chunked')}1;${'x'.repeat(17 * 1024)}\r\nx\r\n`,
      413,
      'PAYLOAD_TOO_LARGE',
    ],
  ] as const) {
    it(`answers ${fault} with ${status}, as a problem`, async () => {
      const { server, drain } = createGatewayServer(() => undefined);
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { head, problem } = await converse((server.address() as AddressInfo).port, sent);
      assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `));
      assert.equal(problem.status, status);
      assert.equal(problem.code, code);
      await drain();
    });
  }

  it('never answers a complete request with the fault of the next one', async () => {
    const { server, listen, drain } = createGatewayServer(() => undefined);
    const { answer } = await converse(await listen(0, '127.0.0.1'), `${get('x: y')}nonsense\r\n\r\n`);
    assert.equal(answer, '');
    server.closeAllConnections();
    await drain();
  });
});
