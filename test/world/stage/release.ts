/** The files of another release, with what it depends on. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { ROOT, runTool } from '../../../.ci/sources.ts';

/** Writes the tree of a commit to a folder of its own; without a commit it is this tree itself. */
export async function openRelease(commit: string | undefined): Promise<AsyncDisposable & { readonly tree: string }> {
  if (commit === undefined) return { tree: ROOT, [Symbol.asyncDispose]: async () => undefined };
  const tree = await mkdtemp(`${tmpdir()}/holdfast-release-`);
  await runTool('git', ['archive', '-o', `${tree}/release.tar`, commit]);
  await runTool('tar', ['-xf', `${tree}/release.tar`, '-C', tree]);
  if ((await dependenciesOf(tree)) === (await dependenciesOf(ROOT))) {
    await symlink(`${ROOT}node_modules`, `${tree}/node_modules`);
  } else {
    await promisify(execFile)('npm', ['ci'], { cwd: tree });
  }
  return { tree, [Symbol.asyncDispose]: () => rm(tree, { recursive: true }) };
}

/** What a tree's package-lock.json installs: all of it but the tree's own version. */
async function dependenciesOf(tree: string): Promise<string> {
  const { packages } = JSON.parse(await readFile(`${tree}/package-lock.json`, 'utf8'));
  return JSON.stringify({ ...packages, '': { ...packages[''], version: undefined } });
}
