/** Resets a stage's database to an earlier state, sequences included, as a restored backup does. */
import { DatabaseSync } from 'node:sqlite';
import { sql } from './shop.ts';
import type { Stage } from './stage.ts';

const TABLES = `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r',
  'p')
  and not relispartition and relname <> 'migration'`;
const SEQUENCES = `select sequencename as name, last_value from pg_sequences where schemaname = 'public' and
  last_value is not null`;

/** Core keeps what it has read of a merchant for less. */
const KEPT_MS = 60_000;

/**
 * Gives each test of a suite the books as they are before its first one, here and at the sandboxes: to open a stage for
 * each test takes ten times as long. The clock goes on.
 */
export function beginAnew(stage: Stage): void {
  let goBack: () => Promise<void>;
  before(async () => {
    goBack = await rememberBeginning(stage);
  });
  afterEach(() => goBack());
}

/**
 * Takes a snapshot of a stage at which nothing was asked of a processor yet. Returns a function that restores it,
 * empties the ledgers of the sandboxes, and advances the clock until core has forgotten what it read.
 */
export async function rememberBeginning(stage: Stage): Promise<() => Promise<void>> {
  const goBack = await rememberNow(stage, 'beginning');
  return async () => {
    await goBack();
    for (const file of stage.ledgers) {
      const ledger = new DatabaseSync(file, { timeout: 5_000 });
      for (const table of ['entry', 'checkout', 'cardTry', 'token', 'event']) ledger.exec(`DELETE FROM ${table}`);
      ledger.close();
    }
    stage.clock.advance(KEPT_MS);
  };
}

/** Takes a snapshot of everything stored, in a schema of that name. Returns a function that restores it. */
export async function rememberNow(stage: Stage, schema = 'remembered'): Promise<() => Promise<void>> {
  const tables = (await sql<{ name: string }>(stage, TABLES)).map(({ name }) => name);
  const counts = tables.map((name) => `select '${name}' as name where exists (select from ${name})`);
  const filled = (await sql<{ name: string }>(stage, counts.join(' union all '))).map(({ name }) => name);
  const sequences = await sql<{ name: string; last_value: string }>(stage, SEQUENCES);
  const copies = filled.map((name) => `create table ${schema}.${name} as table public.${name}`);
  await sql(stage, [`drop schema if exists ${schema} cascade`, `create schema ${schema}`, ...copies].join('; '));
  // Tables are small: deleting their rows costs a fifth of truncating them.
  const restore = [
    'begin',
    ...tables.map((name) => `delete from public.${name}`),
    ...filled.map((name) => `insert into public.${name} select * from ${schema}.${name}`),
    ...sequences.map(({ name, last_value }) => `select setval('${name}', ${last_value})`),
    'commit',
  ];
  return async () => {
    await sql(stage, restore.join('; '));
  };
}
