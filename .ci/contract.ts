/** The contract in proto/: that its generated code is current, and that it breaks no caller of the release before. */
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { previousCommit, previousRelease } from './previous-release.ts';
import { runTool } from './sources.ts';

const GENERATED = 'proto/gen';

/** Generates into a temporary folder, and throws the names of the committed files that differ. */
export async function generatedFaults(): Promise<string[]> {
  await using folder = await mkdtempDisposable(`${tmpdir()}/holdfast-generated-`);
  await runTool('buf', ['generate', '--output', folder.path]);
  await runTool('diff', ['--recursive', '--brief', GENERATED, `${folder.path}/${GENERATED}`]);
  return [];
}

/**
 * Returns what the contract breaks for callers of the release before, or while there is none, of the commit before.
 * Returns nothing when git knows neither, as in a shallow clone.
 */
export async function breakingFaults(): Promise<string[]> {
  const against = (await previousRelease()) ?? (await previousCommit());
  if (against === undefined) return [];
  await using folder = await mkdtempDisposable(`${tmpdir()}/holdfast-contract-`);
  await runTool('git', ['archive', '-o', `${folder.path}/contract.tar`, against, 'buf.yaml', 'proto']);
  await runTool('buf', ['breaking', '--against', `${folder.path}/contract.tar`]);
  return [];
}
