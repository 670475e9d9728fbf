import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ROOT } from '../../.ci/sources.ts';

/** Packs the merchants' client into a folder, as npm would publish it. Returns the path of the package. */
export async function packClient(folder: string): Promise<string> {
  const pack = ['pack', '--json', '--pack-destination', folder];
  const { stdout } = await promisify(execFile)('npm', pack, { cwd: `${ROOT}client` });
  const name = /"filename": "([^"]+)"/.exec(stdout)?.[1] ?? assert.fail(stdout);
  return `${folder}/${name}`;
}
