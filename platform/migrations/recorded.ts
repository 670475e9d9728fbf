import { hash } from 'node:crypto';
import type { DatabaseClient } from '../database-client.ts';

/** A migration as the tree has it. */
export interface KnownMigration {
  readonly name: string;
  /** Of its content: one that was edited is another migration. */
  readonly hash: string;
}

/** A migration as a database has it. */
export interface RecordedMigration {
  /** Null: recorded by a version that stored none. */
  readonly hash: string | null;
  /** How many of its steps were carried out; null = all. */
  readonly step: number | null;
}

/** Returns the hash of a migration's text, whatever its line ends are. */
export function hashMigration(text: string): string {
  return hash('sha256', text.replaceAll('\r\n', '\n'));
}

/** Reads which migrations a database has; none when it has no table of them. */
export async function readRecorded(client: DatabaseClient, table: string): Promise<Map<string, RecordedMigration>> {
  const { rows: tables } = await client.query<{ found: string | null }>('select to_regclass($1) as found', [table]);
  if (tables[0]?.found == null) return new Map();
  // The columns came later than the table: a database without them has no hash of any migration.
  const { rows } = await client.query<RecordedMigration & { name: string }>(
    `select name, to_jsonb(m)->>'hash' as hash, (to_jsonb(m)->>'step')::int as step from ${table} m`,
  );
  return new Map(rows.map(({ name, hash, step }) => [name, { hash, step }]));
}

/**
 * Returns what is wrong with what a database has, for a version that has these migrations, as a sentence that says what
 * to do; undefined when nothing is. Migrations of later versions are accepted; those not carried out yet are no fault.
 */
export function foreignMigration(
  recorded: ReadonlyMap<string, RecordedMigration>,
  known: readonly KnownMigration[],
): string | undefined {
  for (const { name, hash } of known) {
    const found = recorded.get(name)?.hash;
    if (found != null && found !== hash) {
      return `it was made by another ${name} than this version's, ${NOT_THIS_VERSION}`;
    }
  }
  const [names, last] = [new Set(known.map(({ name }) => name)), known.at(-1)?.name ?? ''];
  const strange = [...recorded.keys()].find((name) => !names.has(name) && name < last);
  return strange && `it has the migration ${strange}, which this version does not know, ${NOT_THIS_VERSION}`;
}

/** Returns the migrations that a database lacks, or has in part only, in their order. */
export function missingMigrations<Known extends KnownMigration>(
  recorded: ReadonlyMap<string, RecordedMigration>,
  known: readonly Known[],
): Known[] {
  return known.filter(({ name }) => recorded.get(name)?.step !== null);
}

/** The end of each refusal of a database that another version made. */
export const NOT_THIS_VERSION =
  'so it belongs to an unreleased or edited version: run that version, or use a new database. Nothing was changed';
