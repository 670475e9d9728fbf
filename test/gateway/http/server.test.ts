import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
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
});
