/** Entities, migrations and the dumped schema say the same, in a migrated database on a server of its own. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { migrateDatabase } from '../services/core/storage/migrate-database.ts';
import { openDatabase } from '../services/core/storage/open-database.ts';
import { ORM } from '../services/core/storage/orm.ts';
import { freePort } from '../services/quickstart/ports.ts';
import { removePostgres, startPostgres } from '../services/quickstart/postgres.ts';
import { dumpSchema } from './dump-schema.ts';
import type { Generated } from './generated.ts';

/**
 * Returns what the ORM would change in a migrated database to make it fit the entities: nothing, if all is well. Checks
 * and indexes stand in the migrations only, and so do tables that the ORM does not read.
 */
export async function entityFaults(databaseUrl: string): Promise<string[]> {
  const database = await openDatabase({ databaseUrl, poolSize: 2 });
  try {
    const sql = await database[ORM].schema.getUpdateSchemaSQL({ safe: true, dropTables: false, wrap: false });
    return sql
      .split('\n')
      .filter((line) => line.trim() !== '' && !/^(drop index|alter table \S+ drop constraint)/.test(line));
  } finally {
    await database.close();
  }
}

/** The dump of a migrated database. */
export const schemaDump = (databaseUrl: string): Generated => [
  'services/core/schema.sql',
  () => dumpSchema(databaseUrl),
];

/** Runs something against the URL of a freshly migrated database, and leaves nothing behind. */
export async function withMigratedDatabase<T>(run: (databaseUrl: string) => Promise<T>): Promise<T> {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(`${tmpdir()}/holdfast-check-`);
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  // Run by root, the server is another user, who must be able to pass.
  await chmod(directory, 0o711);
  const postgres = await startPostgres({
    directory: `${directory}/postgres`,
    logFile: `${directory}/postgres.log`,
    port: await freePort(),
    password: randomBytes(32).toString('base64url'),
    superuserPassword: randomBytes(32).toString('base64url'),
    fast: true,
  });
  stack.defer(async () => {
    await postgres.stop();
    await removePostgres(postgres.home);
  });
  await migrateDatabase(postgres.url);
  return await run(postgres.url);
}
