import assert from 'node:assert/strict';
import { readSettings } from '../../../../../platform/settings.ts';
import { callerFinder } from '../../../../../services/core/rpc/server/caller.ts';
import { CORE_SETTINGS, type CoreSettings } from '../../../../../services/core/settings/core-settings.ts';

const token = (letter: string) => letter.repeat(32);
const settings = (gateway: string, more: Record<string, string> = {}) =>
  readSettings(CORE_SETTINGS, {
    DATABASE_URL: 'postgresql://localhost/x',
    PROCESSOR_URL: 'localhost:1',
    PROCESSOR_CREDENTIAL: token('c'),
    ENCRYPTION_KEYS: `k:${Buffer.alloc(32).toString('base64')}`,
    GATEWAY_TOKEN: gateway,
    SERVICE_TOKEN: token('s'),
    OPERATOR_TOKEN: token('o'),
    PROCESSOR_TOKEN: token('p'),
    ...more,
  }) satisfies CoreSettings;

describe('callerFinder()', () => {
  it('finds the role of a token, and accepts the old and the new one while it is rotated', () => {
    const findCaller = callerFinder(settings(`${token('n')},${token('g')}`));
    const find = (authorization: string | null) => findCaller(authorization)?.role;
    assert.equal(find(`Bearer ${token('n')}`), 'gateway');
    assert.equal(find(`Bearer ${token('g')}`), 'gateway');
    assert.equal(find(`Bearer ${token('s')}`), 'internal');
    for (const other of [null, '', 'Bearer ', `Bearer ${token('n')},${token('g')}`, `Basic ${token('n')}`]) {
      assert.equal(find(other), undefined);
    }
  });

  it('finds the processor of a token', () => {
    const own = {
      PROCESSOR_URL: '',
      PROCESSORS: 'a=host:1,b-eu=host:2',
      PROCESSOR_A_CREDENTIAL: token('1'),
      PROCESSOR_B_EU_CREDENTIAL: token('2'),
      PROCESSOR_A_TOKEN: token('w'),
      PROCESSOR_B_EU_TOKEN: `${token('x')},${token('y')}`,
    };
    const find = callerFinder(settings(token('g'), own));
    for (const letter of ['x', 'y']) {
      assert.deepEqual(find(`Bearer ${token(letter)}`), { role: 'processor', processor: 'b-eu' });
    }
    assert.deepEqual(find(`Bearer ${token('w')}`), { role: 'processor', processor: 'a' });
    assert.equal(find(`Bearer ${token('p')}`), undefined, 'the common token speaks for none of several');
    const only = callerFinder(settings(token('g')));
    assert.deepEqual(only(`Bearer ${token('p')}`), { role: 'processor', processor: 'default' });
    const named = { PROCESSOR_URL: '', PROCESSORS: 'a=host:1', PROCESSOR_A_TOKEN: token('w') };
    assert.equal(callerFinder(settings(token('g'), named))(`Bearer ${token('p')}`), undefined);
  });

  it('rejects settings with a short token among several', () => {
    assert.throws(() => settings(`${token('n')},short`), /GATEWAY_TOKEN/);
    assert.throws(() => settings(`${token('n')},`), /GATEWAY_TOKEN/);
  });
});
