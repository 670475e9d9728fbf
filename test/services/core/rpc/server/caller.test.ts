import assert from 'node:assert/strict';
import { readSettings } from '../../../../../platform/settings.ts';
import { roleFinder } from '../../../../../services/core/rpc/server/caller.ts';
import { CORE_SETTINGS, type CoreSettings } from '../../../../../services/core/settings.ts';

const token = (letter: string) => letter.repeat(32);
const settings = (gateway: string) =>
  readSettings(CORE_SETTINGS, {
    DATABASE_URL: 'postgresql://localhost/x',
    PROCESSOR_URL: 'localhost:1',
    PROCESSOR_CREDENTIAL: token('c'),
    ENCRYPTION_KEYS: `k:${Buffer.alloc(32).toString('base64')}`,
    GATEWAY_TOKEN: gateway,
    SERVICE_TOKEN: token('s'),
    OPERATOR_TOKEN: token('o'),
    PROCESSOR_TOKEN: token('p'),
  }) satisfies CoreSettings;

describe('roleFinder()', () => {
  it('finds the role of a token, and takes the old and the new one while it is replaced', () => {
    const find = roleFinder(settings(`${token('n')},${token('g')}`));
    assert.equal(find(`Bearer ${token('n')}`), 'gateway');
    assert.equal(find(`Bearer ${token('g')}`), 'gateway');
    assert.equal(find(`Bearer ${token('s')}`), 'internal');
    for (const other of [null, '', 'Bearer ', `Bearer ${token('n')},${token('g')}`, `Basic ${token('n')}`]) {
      assert.equal(find(other), undefined);
    }
  });

  it('refuses settings with a short token among several', () => {
    assert.throws(() => settings(`${token('n')},short`), /GATEWAY_TOKEN/);
    assert.throws(() => settings(`${token('n')},`), /GATEWAY_TOKEN/);
  });
});
