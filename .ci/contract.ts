/** The contract in proto/: that its generated code is current, and that it breaks no caller of the release before. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { firstDifference } from './generated.ts';
import { previousCommit, previousRelease } from './previous-release.ts';
import { ROOT, runTool } from './sources.ts';

const GENERATED = 'proto/gen';

/** Generates into a temporary folder, and returns each committed file that differs. */
export async function generatedFaults(): Promise<string[]> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(`${tmpdir()}/holdfast-generated-`);
  stack.defer(() => rm(folder, { recursive: true }));
  await runTool('buf', ['generate', '--output', folder]);
  const [is, due] = [await readFiles(ROOT + GENERATED), await readFiles(`${folder}/${GENERATED}`)];
  const names = [...new Set([...is.keys(), ...due.keys()])].sort();
  return names.flatMap((name) => {
    const difference = firstDifference(is.get(name) ?? '', due.get(name) ?? '');
    return difference === undefined ? [] : [`${GENERATED}/${name}:${difference}; run npm run generate`];
  });
}

/**
 * Returns what the contract breaks for callers of the release before, or while there is none, of the commit before.
 * Returns nothing when git knows neither, as in a shallow clone.
 */
export async function breakingFaults(): Promise<string[]> {
  const against = (await previousRelease()) ?? (await previousCommit());
  if (against === undefined) return [];
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(`${tmpdir()}/holdfast-contract-`);
  stack.defer(() => rm(folder, { recursive: true }));
  await runTool('git', ['archive', '-o', `${folder}/contract.tar`, against, 'buf.yaml', 'proto']);
  await runTool('buf', ['breaking', '--against', `${folder}/contract.tar`]);
  return [];
}

async function readFiles(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => `${entry.parentPath}/${entry.name}`);
  return new Map(
    await Promise.all(
      paths.map(async (path) => [path.slice(folder.length + 1), await readFile(path, 'utf8')] as const),
    ),
  );
}
