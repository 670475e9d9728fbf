import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer as createHttpServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { parseNetworks } from '../../../../services/core/egress/destination.ts';
import { openSender } from '../../../../services/core/egress/http-sender.ts';
import { makeCertificates } from '../../../certificates.ts';
import { forSuite } from '../../../suite.ts';

describe('WEBHOOK_PROXY_URL', () => {
  const certificates = forSuite(makeCertificates);
  const sockets = new Set<Socket>();
  let endpoint: Server;
  let proxy: Server;
  let asked: IncomingMessage[] = [];
  /** What the proxy answers instead of a tunnel; undefined = it makes one. */
  let refusal: string | undefined;
  let trusted: string[];

  before(async () => {
    trusted = getCACertificates('default');
    setDefaultCACertificates([...trusted, await readFile(certificates.ca, 'utf8')]);
    const [cert, key] = await Promise.all([readFile(certificates.server.cert), readFile(certificates.server.key)]);
    endpoint = createHttpsServer({ cert, key }, (_, response) => response.end('ok'));
    await once(endpoint.listen(0, '127.0.0.1'), 'listening');
    proxy = createHttpServer((_, response) => response.writeHead(405).end());
    proxy.on('connect', (request: IncomingMessage, socket: Socket) => {
      asked.push(request);
      sockets.add(socket.on('error', () => undefined));
      if (refusal !== undefined) return void socket.end(`HTTP/1.1 ${refusal}\r\n\r\n`);
      const target = connect(portOf(endpoint), '127.0.0.1', () => socket.write('HTTP/1.1 200 Connected\r\n\r\n'));
      sockets.add(target.on('error', () => undefined));
      target.pipe(socket).pipe(target);
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
  });
  after(() => {
    setDefaultCACertificates(trusted);
    for (const socket of sockets) socket.destroy();
    endpoint.closeAllConnections();
    endpoint.close();
    proxy.close();
  });
  beforeEach(() => {
    asked = [];
    refusal = undefined;
  });

  const portOf = (server: Server) => (server.address() as AddressInfo).port;

  async function send(url: string, at = `http://user:p%40ss@127.0.0.1:${portOf(proxy)}`) {
    const resolve = async (name: string) => assert.fail(`${name} is the proxy's to resolve`);
    const rules = { allowed: parseNetworks('127.0.0.0/8'), resolve, proxy: new URL(at) };
    const sender = openSender({ webhook: rules, internal: { allowed: [] } }, 3_000);
    try {
      const { httpStatus, failure, fault } = await sender.send('webhook', {
        url: new URL(url),
        headers: {},
        body: Buffer.from('{}'),
      });
      return { httpStatus, failure, fault };
    } finally {
      await sender.close();
    }
  }

  it('is asked for a tunnel to the name, with its credentials, and TLS ends at the endpoint', async () => {
    const { httpStatus } = await send('https://core.test/hook');
    assert.equal(httpStatus, 200);
    assert.deepEqual(
      asked.map(({ url, headers }) => [url, headers['proxy-authorization']]),
      [['core.test:443', `Basic ${Buffer.from('user:p@ss').toString('base64')}`]],
    );
  });

  it('does not connect for a name in clear, nor to an address that is refused', async () => {
    for (const url of ['http://core.test/', 'https://10.0.0.1/', 'https://169.254.169.254/', 'http://192.0.2.1/']) {
      const { failure, fault } = await send(url);
      assert.match(failure ?? '', /https is required|not public|metadata/, url);
      assert.equal(fault, 'UNREACHABLE');
    }
    assert.equal(asked.length, 0);
  });

  for (const [answer, fault] of [
    ['407 Proxy Authentication Required', 'LOOKUP'],
    ['403 Forbidden', 'LOOKUP'],
    ['503 Service Unavailable', 'LOOKUP'],
    ['502 Bad Gateway', 'UNREACHABLE'],
    ['504 Gateway Timeout', 'UNREACHABLE'],
  ] as const) {
    it(`tells whose failure ${answer} of the proxy is`, async () => {
      refusal = answer;
      assert.equal((await send('https://core.test/')).fault, fault);
    });
  }

  it('does not take a proxy that is not there, or speaks another protocol, for the endpoint', async () => {
    assert.deepEqual(await send('https://core.test/', 'http://127.0.0.1:1'), {
      httpStatus: undefined,
      failure: 'the proxy of WEBHOOK_PROXY_URL failed (ECONNREFUSED)',
      fault: 'LOOKUP',
    });
    assert.equal((await send('https://core.test/', `https://127.0.0.1:${portOf(proxy)}`)).fault, 'LOOKUP');
  });
});
