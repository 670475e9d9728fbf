/** Resets a stage's database to an earlier state, sequences included, as a restored backup does. */
import { sql } from './shop.ts';
import type { Stage } from './stage.ts';

const TABLES = `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r',
  'p')
  and not relispartition and relname <> 'migration'`;
const SEQUENCES = `select sequencename as name, last_value from pg_sequences where schemaname = 'public' and
  last_value is not null`;

/** Takes a snapshot of everything stored. Returns a function that restores it. */
export async function rememberNow(stage: Stage): Promise<() => Promise<void>> {
  const tables = (await sql<{ name: string }>(stage, TABLES)).map(({ name }) => name);
  const counts = tables.map((name) => `select '${name}' as name where exists (select from ${name})`);
  const filled = (await sql<{ name: string }>(stage, counts.join(' union all '))).map(({ name }) => name);
  const sequences = await sql<{ name: string; last_value: string }>(stage, SEQUENCES);
  const copies = filled.map((name) => `create table remembered.${name} as table public.${name}`);
  await sql(stage, ['drop schema if exists remembered cascade', 'create schema remembered', ...copies].join('; '));
  // Tables are small: deleting their rows costs a fifth of truncating them.
  const restore = [
    'begin',
    ...tables.map((name) => `delete from public.${name}`),
    ...filled.map((name) => `insert into public.${name} select * from remembered.${name}`),
    ...sequences.map(({ name, last_value }) => `select setval('${name}', ${last_value})`),
    'commit',
  ];
  return async () => {
    await sql(stage, restore.join('; '));
  };
}
