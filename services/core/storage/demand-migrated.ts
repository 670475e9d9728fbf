import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { connectAtStart, type DatabaseClient } from '../../../platform/database-client.ts';
import { MIGRATIONS } from './orm.ts';

/** Throws an Error of one line when the database of DATABASE_URL cannot be used, or has an older schema. */
export async function demandMigrated(databaseUrl: string): Promise<void> {
  const client = await connectAtStart(databaseUrl);
  try {
    if (await isMigrated(client)) return;
  } finally {
    await client.end();
  }
  throw new Error('DATABASE_URL: the database lacks migrations of this version; run npm run migrate');
}

/** Whether a database has all migrations of this version. */
export async function isMigrated(client: DatabaseClient): Promise<boolean> {
  const { rows } = await client.query<{ found: string | null }>("select to_regclass('migration') as found");
  if (rows[0]?.found == null) return false;
  const done = new Set(
    (await client.query<{ name: string }>('select name from migration')).rows.map(({ name }) => name),
  );
  return (await readdir(MIGRATIONS)).every((file) => done.has(basename(file, '.ts')));
}
