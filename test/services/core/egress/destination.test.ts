import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import type { buildConnector } from 'undici';
import { notificationUrl, parseEndpointUrl } from '../../../../services/core/delivery/attempt-request.ts';
import { DestinationRefused, judgeAddress, parseNetworks } from '../../../../services/core/egress/destination.ts';
import { type ConnectRules, guardedConnector } from '../../../../services/core/egress/guarded-connector.ts';
import { openSender } from '../../../../services/core/egress/http-sender.ts';
import { freePort } from '../../../../services/quickstart/ports.ts';
import { openTcpServer } from '../../../tcp-server.ts';

const PRIVATE_SPELLINGS = [
  // loopback
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '0177.0.0.01',
  '127.0.0.1.',
  '127.255.255.254',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '%31%32%37.0.0.1',
  'localhost',
  'LOCALHOST',
  'localhost.',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[0000:0000:0000:0000:0000:0000:0000:0001]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:7f00:0001]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::]',
  // any
  '0.0.0.0',
  '0',
  '[::]',
  '[::ffff:0.0.0.0]',
  // private, shared, reserved
  '10.0.0.1',
  '10.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '0xc0a80001',
  '3232235521',
  '100.64.0.1',
  '192.0.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '[fc00::1]',
  '[fd12:3456::1]',
  '[fec0::1]',
  '[ff02::1]',
  '[2001:db8::1]',
  '[::ffff:10.0.0.1]',
  '[::ffff:c0a8:1]',
  '[64:ff9b::a00:1]',
  '[2002:a00:1::]',
  '[100::1]',
];

const METADATA_SPELLINGS = [
  '169.254.169.254',
  '2852039166',
  '0xa9fea9fe',
  '0251.0376.0251.0376',
  '[::ffff:169.254.169.254]',
  '[::ffff:a9fe:a9fe]',
  '169.254.170.2',
  '[fe80::1]',
  '[fd00:ec2::254]',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '[64:ff9b::169.254.169.254]',
  '[64:ff9b::a9fe:a9fe]',
  '[64:ff9b:1::a9fe:a9fe]',
  '[64:ff9b::6464:64c8]',
  '[2002:a9fe:a9fe::1]',
  '[::169.254.169.254]',
  '[::ffff:0:169.254.169.254]',
];

/** Connects through the guard to the port on which a listener of the test accepts every local address. */
function connects(rules: ConnectRules, url: string): Promise<Error | null> {
  const { hostname, host, port, protocol } = new URL(url);
  return new Promise((resolve) => {
    const callback: buildConnector.Callback = (...[error, socket]) => {
      socket?.destroy();
      resolve(error);
    };
    guardedConnector(rules)({ hostname, host, port, protocol }, callback);
  });
}

describe('guardedConnector()', () => {
  let listener: Server;
  let connections = 0;
  let port: number;

  before(async () => {
    listener = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => listener.listen(0, '::', resolve));
    port = (listener.address() as AddressInfo).port;
  });

  after(() => listener.close());
  beforeEach(() => {
    connections = 0;
  });

  const resolve = async () => ['127.0.0.1', '::1'];

  it('connects to no private address in any spelling, over http or https', async () => {
    assert(PRIVATE_SPELLINGS.length > 40);
    for (const spelling of PRIVATE_SPELLINGS) {
      for (const protocol of ['http', 'https']) {
        const error = await connects({ allowed: [], resolve }, `${protocol}://${spelling}:${port}/`);
        assert(error instanceof DestinationRefused, `${protocol}://${spelling}: ${error}`);
      }
    }
    assert.equal(connections, 0);
  });

  it('never connects to a metadata service, even when the allow-list contains it', async () => {
    const allowed = parseNetworks('0.0.0.0/0,::/0');
    for (const spelling of METADATA_SPELLINGS) {
      const error = await connects({ allowed }, `http://${spelling}:${port}/`);
      assert(error instanceof DestinationRefused, spelling);
    }
  });

  it('connects to destinations on the allow-list, by address and by name', async () => {
    const allowed = parseNetworks('127.0.0.0/8');
    for (const spelling of ['127.0.0.1', '2130706433', '[::ffff:127.0.0.1]', 'merchant.example']) {
      assert.equal(await connects({ allowed, resolve }, `http://${spelling}:${port}/`), null, spelling);
    }
    assert(await connects({ allowed, resolve }, `http://[::1]:${port}/`));
  });

  it('connects to the address that was checked, whatever the name resolves to a moment later', async () => {
    const answers = [['127.0.0.1'], ['10.0.0.1']];
    let asked = 0;
    const rebinding = async () => answers[asked++] ?? [];
    const rules = { allowed: parseNetworks('127.0.0.0/8'), resolve: rebinding };
    assert.equal(await connects(rules, `http://rebinding.example:${port}/`), null);
    assert.equal(asked, 1);
    assert((await connects(rules, `http://rebinding.example:${port}/`)) instanceof DestinationRefused);
  });

  it('skips addresses of a name that are forbidden', async () => {
    const rules = { allowed: parseNetworks('127.0.0.0/8'), resolve: async () => ['10.0.0.1', '127.0.0.1'] };
    assert.equal(await connects(rules, `http://mixed.example:${port}/`), null);
  });

  it('connects to each allowed address until one answers', async () => {
    const allowed = parseNetworks('127.0.0.0/8,::1/128');
    const only = createServer((socket) => socket.destroy());
    await new Promise<void>((done) => only.listen(0, '127.0.0.1', done));
    const at = (only.address() as AddressInfo).port;
    // Nothing listens at the others.
    for (const addresses of [
      ['127.0.0.2', '127.0.0.1'],
      ['127.0.0.2', '::1', '127.0.0.3', '127.0.0.1'],
      ['::1', '127.0.0.1'],
    ]) {
      const rules = { allowed, resolve: async () => addresses };
      assert.equal(await connects(rules, `http://several.example:${at}/`), null, addresses.join());
    }
    const dead = { allowed, resolve: async () => ['127.0.0.2', '127.0.0.3'] };
    assert.match(String(await connects(dead, `http://dead.example:${at}/`)), /ECONNREFUSED/);
    only.close();
  });

  it('connects to the second address while the first is silent', async () => {
    const port = await freePort();
    await using _silent = await openTcpServer(undefined, { host: '127.0.0.2', port });
    await using second = await openTcpServer(undefined, { port });
    const reached = second.connection();
    const rules = { allowed: parseNetworks('127.0.0.0/8'), resolve: async () => ['127.0.0.2', '127.0.0.1'] };
    // Neither speaks TLS, so that connecting to the first does not end.
    const ended = connects(rules, `https://several.example:${port}/`);
    await reached;
    assert.match(String(await ended), /Timeout/);
  });

  it('refuses the gateway in any spelling of its address', async () => {
    const allowed = parseNetworks('127.0.0.0/8,0.0.0.0/8,::/96,::ffff:0:0/96');
    const spellings = [
      ...['127.0.0.1', '2130706433', '0x7f.1', '0177.0.0.1', '127.1', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::1]'],
      ...['0.0.0.0', '[::]', '127.0.0.2', 'other-name.example', 'GATEWAY.example.'],
    ];
    for (const hostname of ['gateway.example', '127.0.0.1', '[::ffff:127.0.0.1]']) {
      const rules = { allowed, gateways: [{ hostname, port: String(port) }], resolve: async () => ['127.0.0.1'] };
      for (const spelling of spellings) {
        const refused = await connects(rules, `http://${spelling}:${port}/`);
        assert(refused instanceof DestinationRefused, spelling);
        assert.match(refused.message, /gateway/, spelling);
      }
    }
  });

  it("connects to another port of the gateway's machine, and to another machine", async () => {
    const allowed = parseNetworks('127.0.0.0/8');
    const resolve = async (name: string) => [name === 'gateway.example' ? '192.0.2.1' : '127.0.0.1'];
    const elsewhere = { hostname: 'gateway.example', port: String(port) };
    assert.equal(await connects({ allowed, gateways: [elsewhere], resolve }, `http://127.0.0.1:${port}/`), null);
    const otherPort = { hostname: '127.0.0.1', port: String(port + 1) };
    assert.equal(await connects({ allowed, gateways: [otherPort], resolve }, `http://127.0.0.1:${port}/`), null);
  });

  it('tells the sender the reason', async () => {
    const rules = { allowed: [], resolve };
    const sender = openSender({ webhook: rules, internal: rules });
    const url = new URL(`http://merchant.example:${port}/`);
    const answer = await sender.send('webhook', { url, headers: {}, body: Buffer.from('x') });
    assert.match(answer.failure ?? '', /not public/);
    await sender.close();
    assert.equal(connections, 0);
  });
});

describe('judgeAddress()', () => {
  it('allows public addresses over https only', () => {
    for (const address of ['93.184.216.34', '1.1.1.1', '2606:4700:4700::1111', '::ffff:8.8.8.8']) {
      assert.equal(judgeAddress(address, true, []), undefined);
      assert.equal(judgeAddress(address, false, []), 'https is required');
    }
  });
});

describe('notificationUrl()', () => {
  const path = { kind: 'oct', statusInfo: 'paid' } as const;

  it('appends the path to the endpoint, whatever its ending', () => {
    for (const endpoint of ['https://a.example', 'https://a.example/']) {
      assert.equal(notificationUrl(endpoint, path).href, 'https://a.example/webhook/processor/oct/paid');
    }
    const nested = notificationUrl('https://a.example:8443/hooks//', { ...path, kind: 'payment' });
    assert.equal(nested.href, 'https://a.example:8443/hooks/webhook/processor/payment/paid');
  });

  it('keeps the host of an endpoint whose path begins with two slashes', () => {
    const url = notificationUrl('https://a.example//b.example', path);
    assert.equal(url.href, 'https://a.example//b.example/webhook/processor/oct/paid');
  });

  it('rejects an invalid endpoint or statusInfo', () => {
    const wrong = [
      '',
      'a.example',
      'ftp://a.example',
      'file:///etc/passwd',
      'http://',
      'https://u:p@a.example',
      'https://a.example?x=1',
      'https://a.example/#x',
      'javascript:1',
    ];
    for (const endpoint of wrong) assert.throws(() => parseEndpointUrl(endpoint), DestinationRefused, endpoint);
    for (const statusInfo of ['', '../x', 'a/b', 'a?b', 'a b', '1a', 'ä', 'a'.repeat(33)]) {
      assert.throws(
        () => notificationUrl('https://a.example', { kind: 'oct', statusInfo }),
        DestinationRefused,
        statusInfo,
      );
    }
  });
});
