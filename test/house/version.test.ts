import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { newestRelease } from '../../.ci/releases.ts';
import { ROOT } from '../../.ci/sources.ts';
import holdfast from '../../package.json' with { type: 'json' };

/** Where the version is written besides package.json, and how it is found there. */
const STATED: readonly (readonly [file: string, RegExp])[] = [
  ['package-lock.json', /^ {2}"version": "(.+)",$/m],
  ['package-lock.json', /^ {6}"version": "(.+)",$/m],
  ['client/package.json', /^ {2}"version": "(.+)",$/m],
  ['client/python/holdfast.py', /^__version__ = "(.+)"$/m],
  ['docs/clients.md', /holdfast-client-(.+)\.tgz/],
  ['CHANGELOG.md', /^## \[(\d.*)\] - \d{4}-\d\d-\d\d$/m],
];

describe('the version', () => {
  for (const [file, pattern] of STATED) {
    it(`is that of package.json in ${file}, ${pattern}`, async () => {
      const [, version] = pattern.exec(await readFile(ROOT + file, 'utf8')) ?? [];
      assert.equal(version, holdfast.version);
    });
  }

  it('is that of the newest release that is pinned', () => {
    assert.equal(newestRelease().version, holdfast.version);
  });
});
