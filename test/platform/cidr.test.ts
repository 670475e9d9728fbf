import assert from 'node:assert/strict';
import { faultOfCidr, isWithin } from '../../platform/cidr.ts';

describe('faultOfCidr()', () => {
  it('takes networks of both families', () => {
    for (const network of ['192.0.2.0/24', '192.0.2.7/32', '0.0.0.0/0', '2001:db8::/48', '2001:db8::1/128', '::/0'])
      assert.equal(faultOfCidr(network), undefined, network);
  });

  it('refuses what is no network, and bits that a prefix leaves out', () => {
    for (const text of [
      '',
      '192.0.2.0',
      '192.0.2.0/33',
      '192.0.2/24',
      '192.0.2.0/024',
      'x/8',
      '::/129',
      '::1%eth0/128',
    ])
      assert.match(faultOfCidr(text) ?? '', /CIDR notation/, text);
    assert.match(faultOfCidr('192.0.2.7/24') ?? '', /192\.0\.2\.0\/24 is the network/);
    assert.match(faultOfCidr('2001:db8::1/48') ?? '', /2001:db8::\/48 is the network/);
  });
});

describe('isWithin()', () => {
  it('compares an address as sockets and proxies write it', () => {
    const networks = ['192.0.2.0/24', '2001:db8::/48'];
    for (const address of ['192.0.2.9', '::ffff:192.0.2.9', '192.0.2.9:1234', '2001:db8::7', '"[2001:db8::7]:1"'])
      assert.equal(isWithin(address, networks), true, address);
    for (const address of ['192.0.3.9', '2001:db9::7', 'unknown', '', '::'])
      assert.equal(isWithin(address, networks), false, address);
  });
});
