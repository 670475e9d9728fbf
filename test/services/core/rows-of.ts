import { sql } from './shop.ts';
import type { Stage } from './stage.ts';

/** Returns the number of rows of each table. */
export async function rowsOf(stage: Stage): Promise<object> {
  const tables = await sql<{ name: string }>(
    stage,
    `select c.oid::regclass::text as name from pg_class c where relkind in ('r', 'p') and not relispartition
      and relnamespace = 'public'::regnamespace order by 1`,
  );
  const counts: Record<string, unknown> = {};
  for (const { name } of tables) counts[name] = (await sql(stage, `select count(*)::int as n from ${name}`))[0];
  return counts;
}
