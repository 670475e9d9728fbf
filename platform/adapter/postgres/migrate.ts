import { connectionOptions, DatabaseClient } from '../../database-client.ts';

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
 * Safe to run by several processes at once.
 */
export async function migrate(databaseUrl: string, { name: schema, lock, migrations }: Schema): Promise<void> {
  const client = await connectOrCreate(databaseUrl);
  try {
    await client.query('SELECT pg_advisory_lock($1)', [lock]);
    // Asked first: IF NOT EXISTS would need the right to create schemas even when there is nothing to create.
    const { rows } = await client.query('SELECT to_regnamespace($1) AS schema', [schema]);
    if (rows[0].schema === null) await client.query(`CREATE SCHEMA ${schema}`);
    await client.query(`SET search_path TO ${schema}`);
    await client.query(
      'CREATE TABLE IF NOT EXISTS migration (name text PRIMARY KEY, done_at timestamptz NOT NULL DEFAULT now())',
    );
    const done = await client.query<{ name: string }>('SELECT name FROM migration');
    const names = new Set(done.rows.map(({ name }) => name));
    for (const { name, sql } of migrations) {
      if (names.has(name)) continue;
      await client.query(`BEGIN; ${sql}; INSERT INTO migration (name) VALUES (${client.escapeLiteral(name)}); COMMIT`);
    }
  } finally {
    await client.end();
  }
}

async function connectOrCreate(databaseUrl: string): Promise<DatabaseClient> {
  try {
    return await connect(databaseUrl);
  } catch (error) {
    const [, server = '', name = '', options = ''] = /^(\w+:\/\/[^/]+\/)([^?]+)(.*)$/.exec(databaseUrl) ?? [];
    if ((error as { code?: string }).code !== NO_SUCH_DATABASE || name === '') throw error;
    const client = await connect(`${server}postgres${options}`);
    await client
      .query(`CREATE DATABASE ${client.escapeIdentifier(decodeURIComponent(name))}`)
      .catch(ignoreExisting)
      .finally(() => client.end());
    return connect(databaseUrl);
  }
}

const NO_SUCH_DATABASE = '3D000';

async function connect(databaseUrl: string): Promise<DatabaseClient> {
  const client = new DatabaseClient(connectionOptions(databaseUrl));
  await client.connect();
  return client;
}

/** Another process may create it at the same moment. */
function ignoreExisting(error: { code?: string }): void {
  if (error.code !== '42P04' && error.code !== '23505') throw error;
}
