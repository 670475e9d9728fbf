import { connectionOptions, DatabaseClient } from '../../../platform/database-client.ts';
import { MIGRATIONS } from './migrations.ts';

/** Keys of the advisory locks that the adapter takes in its database, apart from those of core. */
export const ADVISORY_LOCKS = {
  /** Lets one process at a time migrate. */
  migration: 7_216_000,
  /** Makes the order of `entry.sequence` the order of commits. */
  entryOrder: 7_216_001,
} as const;

/** Brings the schema `stripe` of a database to this version. Safe to run by several processes at once. */
export async function migrate(databaseUrl: string): Promise<void> {
  const client = new DatabaseClient(connectionOptions(databaseUrl));
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCKS.migration]);
    // Asked first: IF NOT EXISTS would need the right to create schemas even when there is nothing to create.
    const { rows } = await client.query(`SELECT to_regnamespace('stripe') AS schema`);
    if (rows[0].schema === null) await client.query('CREATE SCHEMA stripe');
    await client.query(
      'CREATE TABLE IF NOT EXISTS stripe.migration (name text PRIMARY KEY, done_at timestamptz NOT NULL DEFAULT now())',
    );
    const done = await client.query<{ name: string }>('SELECT name FROM stripe.migration');
    const names = new Set(done.rows.map(({ name }) => name));
    for (const { name, sql } of MIGRATIONS) {
      if (names.has(name)) continue;
      await client.query(
        `BEGIN; ${sql}; INSERT INTO stripe.migration (name) VALUES (${client.escapeLiteral(name)}); COMMIT`,
      );
    }
  } finally {
    await client.end();
  }
}
