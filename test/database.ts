/** A fresh database for a test file, on the run's own server. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';

/** A database, and how to be rid of it. */
export interface TestDatabase {
  /** For the service's role, which owns the database and is no superuser. */
  readonly url: string;
  /** Ends all sessions in the database and removes it. */
  drop(): Promise<void>;
}

/** Creates a database; empty, unless it is to be a copy of the named one (which nobody may be connected to). */
export async function createDatabase(template = 'template0'): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await asAdmin(`create database ${name} owner holdfast template ${template}`);
  const url = new URL(adminUrl());
  url.username = 'holdfast';
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => asAdmin(`drop database ${name} with (force)`) };
}

/** Creates a database that has been migrated: a copy of the one that test/setup.ts made for the run. */
export function createMigratedDatabase(): Promise<TestDatabase> {
  const template = process.env.TEST_DATABASE_TEMPLATE;
  assert(template !== undefined, 'run the tests with mocha: test/setup.ts makes their template');
  return createDatabase(template);
}

async function asAdmin(sql: string): Promise<void> {
  const client = new Client({ connectionString: adminUrl() });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function adminUrl(): string {
  const url = process.env.TEST_DATABASE_URL;
  assert(url !== undefined, 'run the tests with mocha: test/setup.ts starts their PostgreSQL');
  return url;
}
