import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request as openRequest } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { answerHttp } from '../../../platform/adapter/webhook-server.ts';
import { openLog } from '../../../platform/log.ts';
import { forSuite } from '../../suite.ts';

const MIB = 1024 * 1024;

/** A server of webhooks that takes what is small and says "genuine". */
async function start(timeoutMs?: number) {
  const webhooks = {
    path: '/webhook',
    take: async (body: Buffer) => [body.toString() === 'genuine' ? 200 : 401] as const,
  };
  const bounds = timeoutMs === undefined ? undefined : { maxBytes: MIB, timeoutMs };
  const server = createServer(answerHttp(openLog('adapter', 'silent'), {}, webhooks, bounds));
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    /** Sends the beginning of a body from an address of this machine; resolves when that was written. */
    async begin(localAddress: string, bytes: number): Promise<Socket> {
      const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined);
      await once(socket, 'connect');
      const head = `POST /webhook HTTP/1.1\r\nHost: x\r\nContent-Length: ${MIB}\r\n\r\n`;
      await new Promise((resolve) => socket.write(head + 'x'.repeat(bytes), resolve));
      return socket;
    },
    /** Posts a genuine webhook; returns the status. */
    genuine: (localAddress: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const options = { port, host: '127.0.0.1', localAddress, method: 'POST', path: '/webhook', agent: false };
        const posting = openRequest(options, (response) => {
          response.resume().on('end', () => resolve(response.statusCode));
        });
        posting.on('error', reject).end('genuine');
      }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('the server of an adapter for webhooks', () => {
  const server = forSuite(start);

  for (const [what, bytes] of [
    ['have sent next to nothing', 1],
    ['have sent nearly all of the largest body, more than there is room for', MIB - 1],
  ] as const) {
    it(`answers every genuine webhook beside 40 slow connections that ${what}`, async () => {
      const addresses = Array.from({ length: 40 }, (_, index) => `127.0.0.${2 + (index % 20)}`);
      const slow: Socket[] = [];
      for (const address of addresses) slow.push(await server.begin(address, bytes));
      for (const socket of slow) socket.resume();
      const statuses = await Promise.all(Array.from({ length: 118 }, () => server.genuine('127.0.0.1')));
      assert.deepEqual(new Set(statuses), new Set([200]));
      // Behind a proxy all of them come from one address.
      assert.equal(await server.genuine('127.0.0.2'), 200);
      for (const socket of slow) socket.destroy();
    });
  }
});

describe('a webhook that comes too slowly', () => {
  const server = forSuite(() => start(50));

  it('is answered 408, and its connection is closed', async () => {
    const socket = await server.begin('127.0.0.1', 1);
    let answer = '';
    for await (const chunk of socket) answer += chunk;
    assert.match(answer, /^HTTP\/1\.1 408 /);
    assert.match(answer, /connection: close/i);
  });
});
