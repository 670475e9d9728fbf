import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseProfile, readProfile } from '../../../services/conformance/profile.ts';

const LEAST = { currency: 'EUR', otherCurrency: 'USD', features: [], tokens: { approved: 'tok' } };

describe('readProfile()', () => {
  it('accepts a minimal profile, and the profile of the sandbox', () => {
    assert.partialDeepStrictEqual(parseProfile(LEAST), { amount: 10_000, account: '', merchantId: 'conformance' });
    assert.deepEqual(parseProfile(LEAST).tokens.capture, {});
    assert.ok(readProfile('services/sandbox/conformance.json').process);
  });

  const wrong: readonly [string, unknown, RegExp][] = [
    ['nothing', {}, /currency: .*; otherCurrency: .*; features: .*; tokens: /],
    ['no token', { ...LEAST, tokens: {} }, /tokens\.approved: /],
    ['a field that is not known', { ...LEAST, tokens: { approved: 'tok', reversedd: 'x' } }, /tokens: .*reversedd/],
    ['a feature that is not known', { ...LEAST, features: ['voids'] }, /features\.0: /],
    ['an amount that has no tenth', { ...LEAST, amount: 10_005 }, /amount: /],
    ['a currency in lower case', { ...LEAST, currency: 'eur' }, /currency: must be an ISO 4217 code/],
    ['a process without a command', { ...LEAST, process: { command: [] } }, /process\.command: /],
    ['a list', [], /the profile: /],
  ];
  for (const [what, value, message] of wrong) {
    it(`rejects ${what}, and names the field that is wrong`, () => {
      assert.throws(() => parseProfile(value), message);
    });
  }

  it('names a file that cannot be read, or is not JSON', () => {
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-profile-'));
    const file = join(directory, 'profile.json');
    assert.throws(() => readProfile(file), { message: `profile ${file}: cannot be read` });
    writeFileSync(file, '{');
    assert.throws(() => readProfile(file), /profile\.json: is not JSON/);
    rmSync(directory, { recursive: true });
  });
});
