import assert from 'node:assert/strict';
import { cp, mkdtempDisposable, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../../.ci/sources.ts';

describe('ROOT', () => {
  it('is the folder of the project, whatever its name', async () => {
    await using folder = await mkdtempDisposable(`${tmpdir()}/holdfast ü%20#`);
    await cp(`${ROOT}.ci/sources.ts`, `${folder.path}/.ci/sources.ts`);
    await symlink(`${ROOT}node_modules`, `${folder.path}/node_modules`);
    const moved = await import(pathToFileURL(`${folder.path}/.ci/sources.ts`).href);
    assert.equal(moved.ROOT, `${folder.path}/`);
  });
});
