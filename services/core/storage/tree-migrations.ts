import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { hashMigration, type KnownMigration } from '../../../platform/migrations/recorded.ts';
import type { Migration } from '../../../platform/migrations/run.ts';

/** Where the migrations are. */
const FOLDER = `${import.meta.dirname}/migrations`;

/** The table that records them. */
export const MIGRATION_TABLE = 'migration';

/** Reads which migrations this version has, in their order. */
export async function treeMigrations(): Promise<KnownMigration[]> {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.ts')).sort();
  return Promise.all(
    files.map(async (file) => ({
      name: basename(file, '.ts'),
      hash: hashMigration(await readFile(`${FOLDER}/${file}`, 'utf8')),
    })),
  );
}

/** Reads the statements of a migration. This loads the ORM, whose class it extends. */
export async function loadMigration(known: KnownMigration): Promise<Migration> {
  const classes = Object.values(await import(`${FOLDER}/${known.name}.ts`)) as (new () => Statements)[];
  const [Class] = classes;
  if (!Class || classes.length > 1) throw new Error(`${known.name} must export one migration`);
  const migration = new Class();
  await migration.up();
  return { ...known, statements: migration.getQueries() as string[] };
}

/** Of the ORM's migrations, only what they are to do is used: it cannot wait for a lock with a limit. */
interface Statements {
  up(): void | Promise<void>;
  getQueries(): unknown[];
}
