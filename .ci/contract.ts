/** The contract in proto/: that its generated code is current, and that no caller of yesterday is broken today. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { firstDifference } from './first-difference.ts';
import { runTool } from './run-tool.ts';
import { ROOT } from './sources.ts';

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
 * Returns what the contract breaks for callers of the commit that main had before: the last one, or the one before it
 * where the tree is main itself. Returns nothing when there is no such commit, as in a shallow clone.
 */
export async function breakingFaults(): Promise<string[]> {
  const against = await previousContract();
  if (against === undefined) return [];
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(`${tmpdir()}/holdfast-contract-`);
  stack.defer(() => rm(folder, { recursive: true }));
  await runTool('git', ['archive', '-o', `${folder}/contract.tar`, against, 'buf.yaml', 'proto']);
  await runTool('buf', ['breaking', '--against', `${folder}/contract.tar`]);
  return [];
}

/** The commit that the tree's contract is held against. */
async function previousContract(): Promise<string | undefined> {
  const main = await commitOf('main');
  const changed = main === undefined || (await runTool('git', ['status', '--porcelain', '--', 'proto'])) !== '';
  const before = changed || main !== (await commitOf('HEAD')) ? main : await commitOf('HEAD~1');
  return before !== undefined && (await commitOf(`${before}:proto`)) !== undefined ? before : undefined;
}

async function commitOf(name: string): Promise<string | undefined> {
  return runTool('git', ['rev-parse', '--verify', '--quiet', name]).then(
    (output) => output.trim(),
    () => undefined,
  );
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
