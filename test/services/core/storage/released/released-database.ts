/** Databases as a release left them. */
import pg from 'pg';
import type { DatabaseClient } from '../../../../../platform/database-client.ts';
import { recordExtension, runMigrations } from '../../../../../platform/migrations/run.ts';
import releases from '../../../../../services/core/storage/releases/releases.json' with { type: 'json' };
import { loadMigration, treeMigrations } from '../../../../../services/core/storage/tree-migrations.ts';
import { createDatabase, type TestDatabase } from '../../../../database.ts';

/** Rows of each table. */
export type Rows = Readonly<Record<string, readonly object[]>>;

/** Creates the schema of a release by its migrations, and records them as it did: 1.0.0 with no more than their names. */
export async function createReleasedDatabase(names = migrationsOf('1.0.0'), rows: Rows = {}): Promise<TestDatabase> {
  const database = await createDatabase();
  await onDatabase(database.url, async (client) => {
    await client.query(`create table migration (id serial primary key, name varchar(255) not null,
      executed_at timestamptz(6) not null default current_timestamp(6))`);
    await client.query(recordExtension('migration'));
    const known = (await treeMigrations()).filter(({ name }) => names.includes(name));
    const running = { table: 'migration', say: () => undefined, lockPid: 0 };
    for (const each of known)
      await runMigrations(client as unknown as DatabaseClient, [await loadMigration(each)], new Map(), running);
    const first = migrationsOf('1.0.0');
    if (names.every((name) => first.includes(name)))
      await client.query('alter table migration drop column hash, drop column step');
    // What a migration stores itself is in the rows, too.
    for (const table of Object.keys(rows)) await client.query(`delete from ${table}`);
    for (const [table, values] of Object.entries(rows)) await insert(client, table, values);
  });
  return database;
}

/** Names of the migrations of a release. */
export function migrationsOf(version: string): string[] {
  return Object.keys(releases.find((release) => release.version === version)?.migrations ?? {});
}

/** Reads all rows, without nulls and without what the database computes. */
export async function readRows(url: string): Promise<Rows> {
  return onDatabase(url, async (client) => {
    const { rows: tables } = await client.query<{ name: string; without: string[] }>(TABLES);
    const read: Record<string, object[]> = {};
    for (const { name, without } of tables) {
      const text = `select jsonb_strip_nulls(to_jsonb(t) - $1::text[]) as row from ${name} t`;
      const { rows } = await client.query<{ row: object }>(text, [without]);
      if (rows.length > 0) read[name] = rows.map(({ row }) => row);
    }
    return read;
  });
}

const TABLES = `select relname as name, array(select attname::text from pg_attribute
    where attrelid = c.oid and attgenerated <> '') as without
  from pg_class c where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
    and relname <> 'migration' order by 1`;

async function insert(client: pg.Client, table: string, rows: readonly object[]): Promise<void> {
  // What triggers have written is in the rows, too.
  await client.query(`alter table ${table} disable trigger user`);
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))].map((name) => `"${name}"`).join(', ');
  await client.query(
    `insert into ${table} (${columns}) overriding system value
      select ${columns} from jsonb_populate_recordset(null::${table}, $1)`,
    [JSON.stringify(rows)],
  );
  await client.query(`alter table ${table} enable trigger user`);
  // The next numbers are those after the rows'.
  const { rows: sequences } = await client.query<{ column: string; sequence: string }>(SEQUENCES, [table]);
  for (const { column, sequence } of sequences) {
    await client.query(`select setval($1::regclass, max("${column}")) from ${table}`, [sequence]);
  }
}

const SEQUENCES = `select attname as column, pg_get_serial_sequence($1, attname) as sequence from pg_attribute
  where attrelid = $1::regclass and attnum > 0 and pg_get_serial_sequence($1, attname) is not null`;

/** Runs something on a connection of its own. */
export async function onDatabase<T>(url: string, run: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return run(client).finally(() => client.end());
}
