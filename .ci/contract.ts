/** The contract in proto/: that its generated code is current, and that it breaks no caller of the release before. */
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { contractFile, newestRelease } from './releases.ts';
import { runTool } from './sources.ts';

const GENERATED = 'proto/gen';

/** Generates into a temporary folder, and throws the names of the committed files that differ. */
export async function generatedFaults(): Promise<string[]> {
  await using folder = await mkdtempDisposable(`${tmpdir()}/holdfast-generated-`);
  await runTool('buf', ['generate', '--output', folder.path]);
  await runTool('diff', ['--recursive', '--brief', GENERATED, `${folder.path}/${GENERATED}`]);
  return [];
}

/** Returns what a contract, the tree's by default, breaks for callers of the newest release. */
export async function breakingFaults(contract = '.'): Promise<string[]> {
  await runTool('buf', ['breaking', contract, '--against', contractFile(newestRelease().version)]);
  return [];
}

/** Writes the tree's contract to a file, without its comments. */
export async function buildContract(file: string): Promise<void> {
  await runTool('buf', ['build', '--exclude-source-info', '--output', file]);
}
