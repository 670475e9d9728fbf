import { connectAtStart, type DatabaseClient } from '../../database-client.ts';

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
