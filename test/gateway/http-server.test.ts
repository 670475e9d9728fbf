import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createHttpServer } from '../../gateway/http-server.ts';

describe('createHttpServer()', () => {
  const open = async () => {
    const { server, drain } = createHttpServer((_request, response) => response.end('ok'));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    assert(address && typeof address === 'object');
    return { server, drain, port: address.port };
  };

  it('does not wait long for a request', async () => {
    const { server, drain } = await open();
    assert.ok(server.headersTimeout <= 10_000);
    assert.ok(server.requestTimeout <= 10_000);
    await drain();
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
