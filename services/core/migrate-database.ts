import { createQueues } from './delivery/queue.ts';
import { migrate } from './storage/migrate.ts';

/** Brings a database to this version's schema, the job queue's included. Several processes may call it at once. */
export function migrateDatabase(databaseUrl: string): Promise<void> {
  return migrate(databaseUrl, createQueues);
}
