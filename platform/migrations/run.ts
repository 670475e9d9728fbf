import { setTimeout as delay } from 'node:timers/promises';
import type { DatabaseClient } from '../database-client.ts';
import { buildAlone } from './build-alone.ts';
import type { KnownMigration, RecordedMigration } from './recorded.ts';
import { type Step, stepsOf } from './steps.ts';
import { runTogether } from './transaction.ts';

/** A migration that can be carried out. */
export interface Migration extends KnownMigration {
  /** SQL, in their order. */
  readonly statements: readonly string[];
}

/** How migrations are carried out. */
export interface Running {
  /** The table that records them. */
  readonly table: string;
  /** Writes a line to whoever runs them. */
  readonly say: (line: string) => void;
  /** The server's process of the lock, which is in no one's way. */
  readonly lockPid: number;
  /** How often locks are tried. */
  readonly mostTries?: number;
  /** Waits before the next try. */
  readonly pause?: (tries: number) => Promise<unknown>;
}

/** Five minutes and a half, with their pauses and waits. */
const MOST_TRIES = 60;
const PAUSES: NonNullable<Running['pause']> = (tries) => delay(1_000 * Math.min(tries, 5));

/** SQL that makes room for the hash and the steps of each migration in a table that has their names. */
export function recordExtension(table: string): string {
  return `alter table ${table} add column if not exists hash text, add column if not exists step int`;
}

/** Carries out migrations of which some may have been carried out in part, and records each step. */
export async function runMigrations(
  client: DatabaseClient,
  migrations: readonly Migration[],
  recorded: ReadonlyMap<string, RecordedMigration>,
  running: Running,
): Promise<void> {
  for (const migration of migrations) {
    const steps = stepsOf(migration.statements);
    for (let step = recorded.get(migration.name)?.step ?? 0; step < steps.length; step++) {
      const { statements, isAlone } = steps[step] as Step;
      const record = () => recordMigration(client, running.table, migration, step + 1 < steps.length ? step + 1 : null);
      await retryLocks(client, migration.name, running, async () => {
        if (!isAlone) return runTogether(client, statements, record);
        await buildAlone(client, statements[0] as string);
        await record();
      });
    }
  }
}

/** Records a migration, or how far it is. */
export async function recordMigration(
  client: DatabaseClient,
  table: string,
  { name, hash }: KnownMigration,
  step: number | null,
): Promise<void> {
  const values = [name, hash, step];
  const { rowCount } = await client.query(`update ${table} set hash = $2, step = $3 where name = $1`, values);
  if (rowCount === 0) await client.query(`insert into ${table} (name, hash, step) values ($1, $2, $3)`, values);
}

/** Repeats what waits for locks until they are free. Throws when they are not for minutes. */
export async function retryLocks(
  client: DatabaseClient,
  what: string,
  { say, lockPid, mostTries = MOST_TRIES, pause = PAUSES }: Running,
  run: () => Promise<void>,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await run();
    } catch (error) {
      if (!LOCKS.has(String((error as { code?: unknown }).code))) throw error;
      const oldest = await oldestTransaction(client, lockPid);
      if (tries === mostTries) {
        throw new Error(`${what}: a table was in use in each of ${tries} tries${oldest}; run it again later`, {
          cause: error,
        });
      }
      say(`${what} waits: a table is in use, try ${tries} of ${mostTries}${oldest}`);
      await pause(tries);
    }
  }
}

/** SQLSTATE of a lock that was not free in time, and of a deadlock. */
const LOCKS = new Set(['55P03', '40P01']);

/** The transaction that has been open for longest, which is mostly the one in the way. */
async function oldestTransaction(client: DatabaseClient, lockPid: number): Promise<string> {
  const { rows } = await client.query<{ pid: number; name: string; seconds: number }>(
    `select pid, application_name as name, extract(epoch from clock_timestamp() - xact_start)::int as seconds
      from pg_stat_activity
      where datname = current_database() and xact_start is not null and pid <> all (array[pg_backend_pid(), $1])
      order by xact_start limit 1`,
    [lockPid],
  );
  const [oldest] = rows;
  if (!oldest) return '';
  const name = oldest.name === '' ? '' : ` (${oldest.name})`;
  return `; process ${oldest.pid}${name} of the server has been in a transaction for ${oldest.seconds} s`;
}
