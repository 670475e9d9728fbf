import assert from 'node:assert/strict';
import { networkOf } from '../../gateway/network.ts';

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
    unknown: 'unknown',
    '': '',
  };

  for (const [address, network] of Object.entries(CASES)) {
    it(`counts ${address || 'nothing'} as ${network || 'nothing'}`, () => assert.equal(networkOf(address), network));
  }
});
