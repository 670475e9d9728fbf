import { connectAtStart, type DatabaseClient } from '../../database-client.ts';
import { takeMigrationLock } from '../../migrations/lock.ts';
import { foreignMigration, hashMigration, missingMigrations, readRecorded } from '../../migrations/recorded.ts';
import { type Running, recordExtension, recordMigration, retryLocks, runMigrations } from '../../migrations/run.ts';
import { runTogether } from '../../migrations/transaction.ts';

/** A step of a schema: forward-only and additive, so that the code before it runs on the schema after it. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}

/** A schema of an adapter's database. */
export interface Schema {
  readonly name: string;
  /**
   * Key of the advisory lock that lets one process at a time migrate, apart from those of core and of other adapters.
   */
  readonly lock: number;
  /** Key of the advisory lock that makes the order of `entry.sequence` the order of commits. */
  readonly orderLock: number;
  /** In their order; tables without a schema are in this one. */
  readonly migrations: readonly Migration[];
}

/**
 * Brings a schema of a database to its version; a database that is not there yet is created, where the role may.
 * Safe to run by several processes at once, and while the version before serves. Throws an Error of one line, and
 * changes nothing, when another version made the schema.
 */
export async function migrate(
  databaseUrl: string,
  schema: Schema,
  say = (_: string): void => undefined,
): Promise<void> {
  const client = await connectOrCreate(databaseUrl);
  try {
    await using lock = await takeMigrationLock(databaseUrl, schema.lock, say);
    // Asked first: IF NOT EXISTS would need the right to create schemas even when there is nothing to create.
    const { rows } = await client.query('SELECT to_regnamespace($1) AS schema', [schema.name]);
    if (rows[0].schema === null) await client.query(`CREATE SCHEMA ${schema.name}`);
    await client.query(`SET search_path TO ${schema.name}`);
    await migrateSchema(client, schema, { table: 'migration', say, lockPid: lock.pid });
  } finally {
    await client.end();
  }
}

async function migrateSchema(client: DatabaseClient, schema: Schema, running: Running): Promise<void> {
  const known = schema.migrations.map(({ name, sql }) => ({ name, hash: hashMigration(sql), statements: [sql] }));
  const recorded = await readRecorded(client, running.table);
  const foreign = foreignMigration(recorded, known);
  if (foreign !== undefined) throw new Error(`DATABASE_URL: the schema ${schema.name} cannot be used: ${foreign}`);
  const missing = missingMigrations(recorded, known);
  const withoutHash = known.filter(({ name }) => recorded.get(name)?.hash === null);
  if (missing.length === 0 && withoutHash.length === 0) return;
  await client.query(
    'CREATE TABLE IF NOT EXISTS migration (name text PRIMARY KEY, done_at timestamptz NOT NULL DEFAULT now())',
  );
  // A ledger that 1.0.0 made has the names alone.
  await retryLocks(client, running.table, running, () =>
    runTogether(client, [recordExtension(running.table)], async () => {
      for (const each of withoutHash) await recordMigration(client, running.table, each, null);
    }),
  );
  await runMigrations(client, missing, recorded, running);
}

async function connectOrCreate(databaseUrl: string): Promise<DatabaseClient> {
  try {
    return await connectAtStart(databaseUrl);
  } catch (error) {
    const [, server = '', name = '', options = ''] = /^(\w+:\/\/[^/]+\/)([^?]+)(.*)$/.exec(databaseUrl) ?? [];
    if ((error as { cause?: { code?: string } }).cause?.code !== NO_SUCH_DATABASE || name === '') throw error;
    const client = await connectAtStart(`${server}postgres${options}`);
    await client
      .query(`CREATE DATABASE ${client.escapeIdentifier(decodeURIComponent(name))}`)
      .catch((refused: Error & { readonly code?: string }) => {
        // Another process may create it at the same moment.
        if (refused.code === '42P04' || refused.code === '23505') return;
        throw new Error(`${(error as Error).message}, and cannot be created: ${refused.message}`, { cause: refused });
      })
      .finally(() => client.end());
    return connectAtStart(databaseUrl);
  }
}

const NO_SUCH_DATABASE = '3D000';
