import { connectAtStart } from '../../../platform/database-client.ts';
import { ADVISORY_LOCKS } from './database.ts';
import { isMigrated } from './demand-migrated.ts';
import { openPool } from './open-pool.ts';
import { ORM } from './orm.ts';
import { makePartitions } from './partitions.ts';

/** Brings a database to this version's schema. Processes that migrate at the same time take turns. */
export async function migrateDatabase(databaseUrl: string): Promise<void> {
  const guard = await connectAtStart(databaseUrl);
  try {
    await guard.query('select pg_advisory_lock($1)', [ADVISORY_LOCKS.migration]);
    // Mostly there is nothing to do, and the ORM, which takes longest to load, is not needed.
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

async function migrate(databaseUrl: string): Promise<void> {
  const { openDatabase } = await import('./open-database.ts');
  const database = await openDatabase({ databaseUrl, poolSize: 1, limits: {} });
  try {
    await database[ORM].migrator.up();
  } finally {
    await database.close();
  }
}
