import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { code, codes } from 'currency-codes';
import { ROOT } from '../../.ci/sources.ts';
import { CURRENCIES, digitsOf, isCurrency, wasCurrency } from '../../platform/currencies.ts';

/** What became of ISO 4217 since the package's list of 2024-06-25. */
const WITHDRAWN = ['ANG', 'BGN', 'CUC'];
const NEW = ['XAD', 'XCG'];
/** What has no minor units: the package says 0. */
const UNITS = 'XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX'.split(' ');

describe('currencies', () => {
  it('are those of ISO 4217, list one, that have minor units', () => {
    const current = codes().filter((each) => !WITHDRAWN.includes(each) && !UNITS.includes(each));
    assert.deepEqual(CURRENCIES, [...current, ...NEW].sort());
    assert.equal(CURRENCIES.length, 165);
    for (const each of NEW) assert.equal(digitsOf(each), 2);
  });

  it('have their minor units, also when they were withdrawn', () => {
    for (const each of codes()) assert.equal(digitsOf(each), code(each)?.digits, each);
    for (const each of [...WITHDRAWN, ...UNITS]) assert.deepEqual([isCurrency(each), wasCurrency(each)], [false, true]);
  });

  it('are nothing else', () => {
    for (const other of ['', 'eur', 'QQQ', 'constructor', '__proto__'])
      assert.deepEqual([isCurrency(other), wasCurrency(other), digitsOf(other)], [false, false, undefined]);
  });

  it('are the same table everywhere', async () => {
    const files = ['platform', 'client/command', 'gateway/console/page/words'].map(
      (folder) => `${folder}/currency-table`,
    );
    const [platform, client, page] = await Promise.all(
      [`${files[0]}.ts`, `${files[1]}.ts`, `${files[2]}.js`].map((file) => readFile(ROOT + file, 'utf8')),
    );
    assert.equal(client, platform);
    assert.equal(page, platform?.replaceAll(': Readonly<Record<string, number>>', ''));
  });
});
