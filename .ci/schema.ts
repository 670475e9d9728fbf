/** The SQL that is shown for review, and a migrated database on a server of its own, with which the entities agree. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { connectAtStart } from '../platform/database-client.ts';
import { dumpSchema } from '../services/core/storage/dump-schema.ts';
import { HOT_STATEMENTS } from '../services/core/storage/hot-statements.ts';
import { migrateDatabase } from '../services/core/storage/migrate-database.ts';
import { openDatabase } from '../services/core/storage/open-database.ts';
import { ORM } from '../services/core/storage/orm.ts';
import { freePort } from '../services/quickstart/ports.ts';
import { removePostgres, startPostgres } from '../services/quickstart/postgres.ts';
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

/** Runs something against the URL of a freshly migrated database, and leaves nothing behind. */
export async function withMigratedDatabase<T>(run: (databaseUrl: string) => Promise<T>): Promise<T> {
  await using stack = new AsyncDisposableStack();
  const { path: directory } = stack.use(await mkdtempDisposable(`${tmpdir()}/holdfast-check-`));
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

/** The statements that every operation makes, as text that can be read and pasted into psql. */
export const STATEMENTS: Generated = [
  'services/core/statements.sql',
  () => `${STATEMENTS_HEADER}${HOT_STATEMENTS.map(({ name, text }) => `\n-- ${name}\n${text};\n`).join('')}`,
];

const STATEMENTS_HEADER = `-- The statements that every operation makes, in their order, for review: written by npm run generate.
-- In psql: prepare each as it stands, or explain (generic_plan) it.
`;

/** The schema of a migrated database as text; pg_dump does not come with the embedded binaries. */
export const schemaDump = (databaseUrl: string): Generated => [
  'services/core/schema.sql',
  async () => {
    const client = await connectAtStart(databaseUrl);
    return dumpSchema(client).finally(() => client.end());
  },
];
