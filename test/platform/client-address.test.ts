import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { clientAddress, networkOf, readAddress } from '../../platform/client-address.ts';

describe('clientAddress()', () => {
  const addressOf = (forwarded: string, trustedHops: number) => {
    const headers = { 'x-forwarded-for': forwarded };
    return clientAddress({ headers, socket: { remoteAddress: '10.0.0.1' } } as unknown as IncomingMessage, trustedHops);
  };

  it('is what the first trusted proxy has written, else that of the connection', () => {
    const forwarded = '192.0.2.1 , 192.0.2.2,\t192.0.2.3 ';
    assert.deepEqual(
      [0, 1, 2, 3, 9].map((hops) => addressOf(forwarded, hops)),
      ['10.0.0.1', '192.0.2.3', '192.0.2.2', '192.0.2.1', '192.0.2.1'],
    );
    assert.equal(addressOf(' ', 1), '10.0.0.1');
  });

  it('takes no longer for what a client has written before it', () => {
    const before = process.cpuUsage();
    assert.equal(addressOf(`a${' '.repeat(100_000)}b, 192.0.2.1`, 1), '192.0.2.1');
    // Microseconds. It took the square of the length.
    assert(process.cpuUsage(before).user < 1_000_000);
  });
});

describe('networkOf()', () => {
  const CASES = {
    '192.0.2.1': '192.0.2.1',
    '::ffff:192.0.2.1': '192.0.2.1',
    '::ffff:c000:201': '192.0.2.1',
    '2001:db8::1': '2001:db8:0:0::/64',
    '2001:db8:0:0:ffff:ffff:ffff:ffff': '2001:db8:0:0::/64',
    '2001:DB8:0:1::1': '2001:db8:0:1::/64',
    'fe80::1%eth0': 'fe80:0:0:0::/64',
    '::1': '0:0:0:0::/64',
    '9.9.9.8:1234': '9.9.9.8',
    '9.9.9.8:65535': '9.9.9.8',
    '[2001:db8::1]:1234': '2001:db8:0:0::/64',
    '[2001:db8::1]': '2001:db8:0:0::/64',
    '"[2001:db8::1]:1234"': '2001:db8:0:0::/64',
    '"192.0.2.1:80"': '192.0.2.1',
    ' 192.0.2.1 ': '192.0.2.1',
    '[::ffff:192.0.2.1]:99': '192.0.2.1',
    '64:ff9b::c000:201': '192.0.2.1',
    '2002:c000:201:7::1': '192.0.2.1',
    '2002:c000:201:8::1': '192.0.2.1',
    '2001:db8::1:1234': '2001:db8:0:0::/64',
    unknown: 'unknown',
    '': 'unknown',
    _hidden: 'unknown',
    '9.9.9.8:x': 'unknown',
    '9.9.9.8:123456': 'unknown',
    '[9.9.9.8]:1': 'unknown',
    '[2001:db8::1': 'unknown',
    '009.9.9.8': 'unknown',
    '9.9.9.8.': 'unknown',
    '9.9.2056': 'unknown',
  };

  for (const [address, network] of Object.entries(CASES)) {
    it(`counts ${address || 'nothing'} as ${network || 'nothing'}`, () => assert.equal(networkOf(address), network));
  }
});

describe('readAddress()', () => {
  const CASES = {
    '192.0.2.1:1234': '192.0.2.1',
    '::ffff:192.0.2.1': '192.0.2.1',
    '[2001:DB8:0::1]:1234': '2001:db8::1',
    'fe80::1%eth0': 'fe80::1',
    'x y': undefined,
  };

  for (const [entry, address] of Object.entries(CASES)) {
    it(`reads ${entry} as ${address ?? 'no address'}`, () => assert.equal(readAddress(entry), address));
  }
});
