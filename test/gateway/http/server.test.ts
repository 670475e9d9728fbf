import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { createHttpServer } from '../../../gateway/http/server.ts';

describe('createHttpServer()', () => {
  const open = async () => {
    const { server, listen, drain } = createHttpServer((_request, response) => response.end('ok'));
    return { server, drain, port: await listen(0, '127.0.0.1') };
  };

  it('does not wait long for a request', async () => {
    const { server, drain } = await open();
    assert.ok(server.headersTimeout <= 10_000);
    assert.ok(server.requestTimeout <= 10_000);
    await drain();
  });

  it('accepts several connections at a turn of its event loop, so that a crowd of them keeps nobody waiting', async function () {
    if (process.platform !== 'linux') this.skip();
    const { server, drain, port } = await open();
    let accepted = 0;
    server.on('connection', () => accepted++);
    const sockets = Array.from({ length: 200 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
    let turns = 0;
    while (accepted < sockets.length) {
      turns++;
      await new Promise((resolve) => setImmediate(resolve));
      // A turn that takes long, so that all connections have arrived.
      const endMs = performance.now() + 20;
      while (performance.now() < endMs);
    }
    assert(turns < 100, `${turns} turns`);
    for (const socket of sockets) socket.destroy();
    await drain();
  });

  it('refuses a port that another server has, whether that one shares it or not', async () => {
    const first = await open();
    const second = createHttpServer((_request, response) => response.end('ok'));
    await assert.rejects(second.listen(first.port, '127.0.0.1'), { code: 'EADDRINUSE' });
    await first.drain();
    const plain = createServer().listen(0, '127.0.0.1');
    await once(plain, 'listening');
    await assert.rejects(second.listen((plain.address() as AddressInfo).port, '127.0.0.1'), { code: 'EADDRINUSE' });
    plain.close();
  });

  it('stops though a connection never sends anything, and one sends half a request', async () => {
    const { server, drain, port } = await open();
    const sockets = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
    sockets[1]?.write('GET / HTTP/1.1\r\nHost: ');
    await once(server, 'connection');
    await once(server, 'connection');
    const closed = sockets.map((socket) => new Promise((resolve) => socket.on('error', resolve).on('close', resolve)));
    await drain();
    await Promise.all(closed);
  });
});
