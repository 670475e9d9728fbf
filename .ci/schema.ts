/** Entities, migrations and the dumped schema say the same, in a migrated database on a server of its own. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { migrateDatabase } from '../services/core/storage/migrate.ts';
import { openDatabase } from '../services/core/storage/open-database.ts';
import { ORM } from '../services/core/storage/orm.ts';
import { freePort } from '../services/quickstart/ports.ts';
import { removePostgres, startPostgres } from '../services/quickstart/postgres.ts';
import { dumpSchema } from './dump-schema.ts';
import { firstDifference } from './first-difference.ts';
import { ROOT } from './sources.ts';

const FILE = 'services/core/schema.sql';

/** Returns what the ORM would change in a migrated database to make it fit the entities: nothing, if all is well. */
export async function entityFaults(databaseUrl: string): Promise<string[]> {
  const database = await openDatabase({ databaseUrl, poolSize: 2 });
  try {
    const sql = await database[ORM].schema.getUpdateSchemaSQL({ safe: true, dropTables: false, wrap: false });
    return sql.split('\n').filter((line) => line.trim() !== '');
  } finally {
    await database.close();
  }
}

/** Compares the dumped schema with a migrated database. */
export async function dumpFaults(databaseUrl: string): Promise<string[]> {
  const difference = firstDifference(await readFile(ROOT + FILE, 'utf8'), await dumpSchema(databaseUrl));
  return difference === undefined ? [] : [`${FILE}:${difference}; run npm run generate`];
}

/** Writes the dump of a migrated database. */
export async function writeDump(databaseUrl: string): Promise<void> {
  await writeFile(ROOT + FILE, await dumpSchema(databaseUrl));
}

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
