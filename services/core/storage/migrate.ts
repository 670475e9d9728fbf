import { connectionOptions, DatabaseClient } from '../../../platform/database-client.ts';
import { ADVISORY_LOCKS } from './database.ts';
import { openDatabase } from './open-database.ts';
import { ORM } from './orm.ts';
import { makePartitions } from './partitions.ts';

/** Brings a database to this version's schema. Processes that migrate at the same time take turns. */
export async function migrateDatabase(databaseUrl: string): Promise<void> {
  const guard = new DatabaseClient(connectionOptions(databaseUrl));
  await guard.connect();
  try {
    await guard.query('select pg_advisory_lock($1)', [ADVISORY_LOCKS.migration]);
    const database = await openDatabase({ databaseUrl, poolSize: 2, limits: {} });
    try {
      await database[ORM].migrator.up();
      await makePartitions(database, new Date(), 0);
    } finally {
      await database.close();
    }
  } finally {
    await guard.end();
  }
}
