import pg from 'pg';
import { createQueues } from '../jobs/queue.ts';
import { ADVISORY_LOCKS } from './advisory-locks.ts';
import { openDatabase } from './database.ts';

/** Brings a database to this version's schema, the job queue's included. Safe to run by several processes at once. */
export async function migrate(databaseUrl: string): Promise<void> {
  const guard = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000 });
  await guard.connect();
  try {
    await guard.query('select pg_advisory_lock($1)', [ADVISORY_LOCKS.migration]);
    const database = await openDatabase({ databaseUrl, poolSize: 2, limited: false });
    try {
      await database.orm.migrator.up();
      await createQueues(databaseUrl);
    } finally {
      await database.close();
    }
  } finally {
    await guard.end();
  }
}
