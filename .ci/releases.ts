/** What the tree says of each release, so that none of its tags is needed: oldest first. */
import releases from '../services/core/storage/releases/releases.json' with { type: 'json' };
import { runTool } from './sources.ts';

export interface Release {
  readonly version: string;
  /** Its code; a clone that is shallow or new may not have it. */
  readonly commit: string;
  /** Hash of the schema after its migrations. */
  readonly schema: string;
  /** Hashes of its migrations, by name. */
  readonly migrations: Readonly<Record<string, string>>;
  /** Hashes of the migrations of adapters' ledgers, by `schema/name`. */
  readonly ledgers: Readonly<Record<string, string>>;
}

export const RELEASES: readonly Release[] = releases;

/** The release before this tree. */
export function newestRelease(): Release {
  const newest = RELEASES.at(-1);
  if (!newest) throw new Error('releases.json names no release');
  return newest;
}

/** Where the schema and the contract of a release are, from the project's root. */
export const RELEASED_FOLDER = 'services/core/storage/releases/';
export const schemaFile = (version: string) => `${RELEASED_FOLDER}${version}.sql`;
export const contractFile = (version: string) => `.ci/releases/${version}.binpb.gz`;

/** Returns the commit of a release; undefined when git does not have it. */
export async function commitOf({ commit }: Release): Promise<string | undefined> {
  return runTool('git', ['cat-file', '-e', `${commit}^{commit}`]).then(
    () => commit,
    () => undefined,
  );
}
