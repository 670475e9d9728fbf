/** Creates a fresh database for a test file on the PostgreSQL server of the run. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';

/** A database that a test can drop. */
export interface TestDatabase {
  /** Connects as the service's role, which owns the database and is not a superuser. */
  readonly url: string;
  /** Ends all sessions in the database and drops it. */
  drop(): Promise<void>;
}

/** Creates an empty database, or a copy of `template` (which must have no open connections). */
export async function createDatabase(template = 'template0'): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await asAdmin(`create database ${name} owner holdfast template ${template} strategy file_copy`);
  const url = new URL(given('TEST_DATABASE_URL'));
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => asAdmin(`drop database ${name} with (force)`) };
}

/** Creates a migrated database: a copy of the template that test/setup.ts created for the run. */
export function createMigratedDatabase(): Promise<TestDatabase> {
  return createDatabase(given('TEST_DATABASE_TEMPLATE'));
}

async function asAdmin(sql: string): Promise<void> {
  const client = new Client({ connectionString: given('TEST_DATABASE_ADMIN_URL') });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function given(name: string): string {
  const value = process.env[name];
  assert(value !== undefined, 'run the tests with mocha: test/setup.ts starts their PostgreSQL');
  return value;
}
