/**
 * `node .ci/pin-release.ts`: pins the version of package.json as a release, as docs/contributing.md says. From then on
 * its migrations may not be edited, and schema and contract are held against it.
 */
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import holdfast from '../package.json' with { type: 'json' };
import { hashMigration } from '../platform/migrations/recorded.ts';
import { treeMigrations } from '../services/core/storage/tree-migrations.ts';
import { buildContract } from './contract.ts';
import { ledgerMigrations } from './ledgers.ts';
import { contractFile, RELEASED_FOLDER, RELEASES, type Release, schemaFile } from './releases.ts';
import { ROOT, runTool } from './sources.ts';

const { version } = holdfast;
if (RELEASES.some((release) => release.version === version)) throw new Error(`${version} is pinned already`);
await mkdir(`${ROOT}${RELEASED_FOLDER}`, { recursive: true });
await copyFile(`${ROOT}services/core/schema.sql`, ROOT + schemaFile(version));
await buildContract(ROOT + contractFile(version));
const release: Release = {
  version,
  commit: (await runTool('git', ['rev-parse', 'HEAD'])).trim(),
  schema: hashMigration(await readFile(ROOT + schemaFile(version), 'utf8')),
  migrations: Object.fromEntries((await treeMigrations()).map(({ name, hash }) => [name, hash])),
  ledgers: ledgerMigrations(),
};
await writeFile(`${ROOT}${RELEASED_FOLDER}releases.json`, `${JSON.stringify([...RELEASES, release], undefined, 2)}\n`);
