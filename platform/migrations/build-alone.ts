import type { ClientBase } from 'pg';
import { runTogether } from './transaction.ts';

/**
 * Builds an index concurrently, or validates a constraint, outside of a transaction: whoever reads or writes goes on
 * meanwhile. An index that was built before is kept; one that was not built to its end is built anew. On a partitioned
 * table, where PostgreSQL builds none concurrently, that of each partition is built and attached.
 */
export async function buildAlone(client: ClientBase, text: string): Promise<void> {
  const [, kind, index = '', table = '', what] = INDEX.exec(text) ?? [];
  if (what === undefined) {
    await client.query(text);
    return;
  }
  if (!(await isPartitioned(client, table)))
    return buildIndex(client, `create ${kind} concurrently`, index, table, what);
  // It is valid once each partition has its part, and a partition that is made from now on has it from the start.
  await runTogether(client, [`create ${kind} if not exists ${index} on only ${table} ${what}`]);
  for (const partition of await partitionsWithout(client, table, index)) {
    const part = `${partition}_${index.replaceAll('"', '')}`;
    await buildIndex(client, `create ${kind} concurrently`, part, partition, what);
    await runTogether(client, [`alter index ${index} attach partition ${part}`]);
  }
}

/** Its parts: `index` or `unique index`, the name, the table, and what is indexed. */
const INDEX =
  /^\s*create\s+((?:unique\s+)?index)\s+concurrently\s+(?:if\s+not\s+exists\s+)?("?\w+"?)\s+on\s+("?\w+"?)\s*(.+)$/is;

async function buildIndex(client: ClientBase, create: string, index: string, table: string, what: string) {
  const { rows } = await client.query<{ valid: boolean }>(
    'select indisvalid as valid from pg_index where indexrelid = to_regclass($1)',
    [index],
  );
  // It was built, and the process ended before it recorded that; or it was not built to its end.
  if (rows[0]?.valid) return;
  if (rows[0]) await client.query(`drop index concurrently ${index}`);
  await client.query(`${create} ${index} on ${table} ${what}`);
}

async function isPartitioned(client: ClientBase, table: string): Promise<boolean> {
  const { rows } = await client.query(`select from pg_class where oid = to_regclass($1) and relkind = 'p'`, [table]);
  return rows.length > 0;
}

/** The partitions of a table of which an index has no part. */
async function partitionsWithout(client: ClientBase, table: string, index: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select p.inhrelid::regclass::text as name from pg_inherits p
      where p.inhparent = to_regclass($1) and not exists (select from pg_inherits i
        join pg_index x on x.indexrelid = i.inhrelid where i.inhparent = to_regclass($2) and x.indrelid = p.inhrelid)
      order by 1`,
    [table, index],
  );
  return rows.map(({ name }) => name);
}
