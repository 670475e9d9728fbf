/** What a migration would do to those who read and write meanwhile, as PostgreSQL itself shows. */
import type { Client } from 'pg';
import { buildAlone } from '../../platform/migrations/build-alone.ts';
import { stepsOf } from '../../platform/migrations/steps.ts';

/** Statements that run outside of a transaction, each of which stops nobody. */
const ALONE = [
  /^\s*create\s+(unique\s+)?index\s+concurrently\s+"?\w+"?\s+on\s[^;]+;?\s*$/i,
  /^\s*alter\s+table\s+"?\w+"?\s+validate\s+constraint\s+"?\w+"?\s*;?\s*$/i,
];

/** A lock with which nobody writes to a table. */
const STOPS_WRITERS = ['ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock'];

/**
 * Carries out a migration in a database that has the schema before it, and returns why it may not be released: it reads
 * all rows of a table that nobody can write to meanwhile, writes a table anew, or changes rows. What a migration creates
 * itself is empty.
 */
export async function lockFaults(client: Client, statements: readonly string[]): Promise<string[]> {
  const faults: string[] = [];
  const before = await tablesOf(client);
  for (const { statements: texts, isAlone } of stepsOf(statements)) {
    if (isAlone) {
      const [text = ''] = texts;
      if (ALONE.some((form) => form.test(text))) await buildAlone(client, text);
      else faults.push(`${text.trim()}: a statement outside of a transaction is one concurrent index or one VALIDATE`);
      continue;
    }
    // Else what the step before has read counts here, too.
    await client.query('select pg_stat_force_next_flush()');
    await client.query('begin');
    for (const text of texts) await client.query(text);
    const { rows: uses } = await client.query<Use>(USES);
    const filed = new Map((await tablesOf(client)).map(({ name, file }) => [name, file]));
    for (const { name, file } of before) {
      const use = uses.find((each) => each.name === name);
      if (filed.has(name) && filed.get(name) !== file) faults.push(`${name}: is written anew`);
      else if (use && use.scans > 0 && use.modes.some((mode) => STOPS_WRITERS.includes(mode)))
        faults.push(`${name}: all its rows are read while nobody can write`);
      else if (use && use.scans > 0 && use.modes.includes('RowExclusiveLock')) faults.push(`${name}: rows are changed`);
    }
    await client.query('commit');
  }
  return faults;
}

interface Use {
  readonly name: string;
  readonly scans: number;
  readonly modes: readonly string[];
}

/** How often this transaction read a table from its beginning, and which locks it has on it. */
const USES = `select relname as name, seq_scan::int as scans,
    array(select mode from pg_locks where locktype = 'relation' and relation = relid and pid = pg_backend_pid()) as modes
  from pg_stat_xact_user_tables`;

async function tablesOf(client: Client): Promise<{ name: string; file: string }[]> {
  const { rows } = await client.query<{ name: string; file: string }>(
    `select relname as name, relfilenode::text as file from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`,
  );
  return rows;
}
