import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../.ci/sources.ts';

/**
 * Packs the merchants' client into a folder, as npm would publish it. Returns the path of the package. It is built in a
 * copy of the sources: other tests may pack it at the same time.
 */
export async function packClient(folder: string): Promise<string> {
  const copy = await mkdtemp(`${tmpdir()}/holdfast-pack-`);
  try {
    await mkdir(`${copy}/client`);
    await cp(`${ROOT}client`, `${copy}/client`, { recursive: true, filter: (path) => basename(path) !== 'dist' });
    await cp(`${ROOT}tsconfig.json`, `${copy}/tsconfig.json`);
    await symlink(`${ROOT}node_modules`, `${copy}/node_modules`);
    const pack = ['pack', '--json', '--pack-destination', folder];
    const { stdout } = await promisify(execFile)('npm', pack, { cwd: `${copy}/client` });
    const name = /"filename": "([^"]+)"/.exec(stdout)?.[1] ?? assert.fail(stdout);
    return `${folder}/${name}`;
  } finally {
    await rm(copy, { recursive: true });
  }
}
