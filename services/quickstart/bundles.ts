/**
 * A process loads about 1 000 modules, which takes most of its start. `npm ci` bundles those of each process into a few
 * files (.ci/bundle.ts); a process starts from them as long as they are made of the sources as they are.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Inside node_modules, so that what is not bundled is found, and `npm ci` removes it. From the root. */
export const BUNDLES = 'node_modules/.cache/holdfast';
const MANIFEST = `${ROOT}${BUNDLES}/manifest.json`;

/** What the bundles are made of. */
export interface Manifest {
  /** Paths from the root. */
  readonly inputs: readonly string[];
  readonly digest: string;
}

/** The file to start the process of a module from: its bundle, or the module (`services/core/index.ts`) itself. */
export function startFile(entry: string): string {
  const bundle = `${ROOT}${BUNDLES}/${entry.replace(/ts$/, 'mjs')}`;
  return existsSync(bundle) && areFresh() ? bundle : ROOT + entry;
}

function areFresh(): boolean {
  try {
    const { inputs, digest }: Manifest = JSON.parse(readFileSync(MANIFEST, 'utf8'));
    return digestOf(inputs) === digest;
  } catch {
    return false;
  }
}

/** A digest of files, and of the folder of the project: bundles name files in it. Throws when one does not exist. */
export function digestOf(inputs: readonly string[]): string {
  const hash = createHash('sha256').update(ROOT);
  for (const input of inputs) hash.update(`\0${input}\0`).update(readFileSync(ROOT + input));
  return hash.digest('hex');
}
