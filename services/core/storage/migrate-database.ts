import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { connectionOptions, DatabaseClient } from '../../../platform/database-client.ts';
import { ADVISORY_LOCKS } from './database.ts';
import { openPool } from './open-pool.ts';
import { MIGRATIONS, ORM } from './orm.ts';
import { makePartitions } from './partitions.ts';

/** Brings a database to this version's schema. Processes that migrate at the same time take turns. */
export async function migrateDatabase(databaseUrl: string): Promise<void> {
  const guard = new DatabaseClient(connectionOptions(databaseUrl));
  await guard.connect();
  try {
    await guard.query('select pg_advisory_lock($1)', [ADVISORY_LOCKS.migration]);
    if (!(await isMigrated(guard))) await migrate(databaseUrl);
    const database = await openPool({ databaseUrl, poolSize: 1, limits: {} });
    try {
      await makePartitions(database, new Date(), 0);
    } finally {
      await database.close();
    }
  } finally {
    await guard.end();
  }
}

/** Mostly there is nothing to do, and the ORM, which takes longest to load, is not needed. */
async function isMigrated(guard: DatabaseClient): Promise<boolean> {
  const { rows } = await guard.query<{ found: string | null }>("select to_regclass('migration') as found");
  if (rows[0]?.found == null) return false;
  const done = new Set(
    (await guard.query<{ name: string }>('select name from migration')).rows.map(({ name }) => name),
  );
  return (await readdir(MIGRATIONS)).every((file) => done.has(basename(file, '.ts')));
}

async function migrate(databaseUrl: string): Promise<void> {
  const { openDatabase } = await import('./open-database.ts');
  const database = await openDatabase({ databaseUrl, poolSize: 1, limits: {} });
  try {
    await database[ORM].migrator.up();
  } finally {
    await database.close();
  }
}
