import { connectAtStart, type DatabaseClient } from '../../../platform/database-client.ts';
import { takeMigrationLock } from '../../../platform/migrations/lock.ts';
import { foreignMigration, missingMigrations, readRecorded } from '../../../platform/migrations/recorded.ts';
import { type Running, recordExtension, runMigrations } from '../../../platform/migrations/run.ts';
import { adoptFirstRelease } from './adopt-first-release.ts';
import { ADVISORY_LOCKS } from './database.ts';
import { openPool } from './open-pool.ts';
import { makePartitions } from './partitions.ts';
import { loadMigration, MIGRATION_TABLE, treeMigrations } from './tree-migrations.ts';

/** Lets a caller follow a migration, and shorten its pauses. */
export type Migrating = Partial<Pick<Running, 'say' | 'pause'>>;

/**
 * Brings a database to this version's schema, while the release before serves on it. Processes that migrate at the same
 * time take turns. Throws an Error of one line, and changes nothing, when another version made the database.
 */
export async function migrateDatabase(databaseUrl: string, migrating: Migrating = {}): Promise<void> {
  const say = migrating.say ?? (() => undefined);
  await using lock = await takeMigrationLock(databaseUrl, ADVISORY_LOCKS.migration, say);
  const client = await connectAtStart(databaseUrl);
  try {
    await migrate(client, { ...migrating, table: MIGRATION_TABLE, say, lockPid: lock.pid });
  } finally {
    await client.end();
  }
  const database = await openPool({ databaseUrl, poolSize: 1, limits: {} });
  try {
    await makePartitions(database, new Date(), 0);
  } finally {
    await database.close();
  }
}

async function migrate(client: DatabaseClient, running: Running): Promise<void> {
  const known = await treeMigrations();
  let recorded = await readRecorded(client, MIGRATION_TABLE);
  const foreign = foreignMigration(recorded, known);
  if (foreign !== undefined) throw new Error(`DATABASE_URL: the database cannot be migrated: ${foreign}`);
  if ([...recorded.values()].some(({ hash }) => hash === null)) {
    await adoptFirstRelease(client, known, recorded, running);
    recorded = await readRecorded(client, MIGRATION_TABLE);
  }
  // Mostly there is nothing to do, and the ORM, which takes longest to load, is not needed.
  const missing = missingMigrations(recorded, known);
  if (missing.length === 0) return;
  if (recorded.size === 0) await client.query(`${TABLE}; ${recordExtension(MIGRATION_TABLE)}`);
  for (const each of missing) await runMigrations(client, [await loadMigration(each)], recorded, running);
}

/** As release 1.0.0 makes it. */
const TABLE = `create table if not exists ${MIGRATION_TABLE} (
  id serial primary key,
  name varchar(255) not null,
  executed_at timestamptz(6) not null default current_timestamp(6)
)`;
