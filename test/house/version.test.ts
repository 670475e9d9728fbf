import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { newestRelease } from '../../.ci/releases.ts';
import { ROOT } from '../../.ci/sources.ts';
import { STATED_VERSIONS } from '../../.ci/stated-versions.ts';
import holdfast from '../../package.json' with { type: 'json' };

describe('the version', () => {
  for (const [file, pattern] of STATED_VERSIONS) {
    it(`is that of package.json in ${file}, ${pattern}`, async () => {
      const [, version] = pattern.exec(await readFile(ROOT + file, 'utf8')) ?? [];
      assert.equal(version, holdfast.version);
    });
  }

  it('is that of the newest release that is pinned', () => {
    assert.equal(newestRelease().version, holdfast.version);
  });
});
