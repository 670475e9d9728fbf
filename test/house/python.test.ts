import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { pathWithPython } from '../python.ts';

describe('pathWithPython()', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(`${tmpdir()}/holdfast-python-`);
    for (const name of ['shims', 'real', 'empty']) await mkdir(`${folder}/${name}`);
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** A program that is no script: Python is never started by it. */
  const program = () => symlink(process.execPath, `${folder}/real/python3`);

  it('puts Python before the script that starts it, and after what is found first', async () => {
    await program();
    const script = `${folder}/shims/python3`;
    await writeFile(script, `#!/bin/sh\necho '${folder}/real/python3'\n`);
    await chmod(script, 0o755);
    const found = pathWithPython(`${folder}/empty:${folder}/shims:/usr/bin:/bin`);
    assert.equal(found, `${folder}/empty:${folder}/real:${folder}/shims:/usr/bin:/bin`);
    assert.equal(pathWithPython(found), found);
  });

  it('leaves a PATH as it is that finds Python itself, or none', async () => {
    await program();
    for (const path of [`${folder}/real:/bin`, `${folder}/empty`]) assert.equal(pathWithPython(path), path);
  });
});
