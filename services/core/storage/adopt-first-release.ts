import { readFile } from 'node:fs/promises';
import type { DatabaseClient } from '../../../platform/database-client.ts';
import {
  type KnownMigration,
  NOT_THIS_VERSION,
  type RecordedMigration,
} from '../../../platform/migrations/recorded.ts';
import { type Running, recordExtension, recordMigration, retryLocks } from '../../../platform/migrations/run.ts';
import { runTogether } from '../../../platform/migrations/transaction.ts';
import { dumpSchema } from './dump-schema.ts';
import releases from './releases/releases.json' with { type: 'json' };
import { loadMigration, MIGRATION_TABLE } from './tree-migrations.ts';

/** The release that recorded the names of its migrations alone. Its first one was edited before it was published. */
const [FIRST] = releases;

/**
 * Records the hashes of migrations that release 1.0.0 carried out, once the database has that release's schema. Throws
 * an Error of one line, and changes nothing, when it has not.
 */
export async function adoptFirstRelease(
  client: DatabaseClient,
  known: readonly KnownMigration[],
  recorded: ReadonlyMap<string, RecordedMigration>,
  running: Running,
): Promise<void> {
  const ofFirst = known.filter(({ name }) => name in (FIRST?.migrations ?? {}));
  const later = [...recorded].find(([name, { hash }]) => hash === null && !ofFirst.some((each) => each.name === name));
  if (later) throw foreign(`it has the migration ${later[0]} without a hash of its content`);
  const missing = ofFirst.filter(({ name }) => !recorded.has(name));
  const statements = (await Promise.all(missing.map(loadMigration))).flatMap((migration) => migration.statements);
  const adopt = async () => {
    const lacking = await lackingOf(client);
    if (lacking.length > 0) throw foreign(`it lacks ${lacking.slice(0, 3).join(' and ')} of release 1.0.0`);
    for (const each of ofFirst) await recordMigration(client, MIGRATION_TABLE, each, null);
  };
  const all = [recordExtension(MIGRATION_TABLE), ...statements];
  await retryLocks(client, 'the schema of 1.0.0', running, () => runTogether(client, all, adopt)).catch((error) => {
    if (!MISFITS.test(error.code)) throw error;
    throw foreign(`the migrations of release 1.0.0 do not fit it (${error.message})`);
  });
}

/** SQLSTATE class of a missing or already existing table or column. */
const MISFITS = /^42/;

/** Returns the columns, constraints and indexes of release 1.0.0 that a database lacks. It may have more. */
async function lackingOf(client: DatabaseClient): Promise<string[]> {
  const pinned = await readFile(`${import.meta.dirname}/releases/1.0.0.sql`, 'utf8');
  const found = partsOf(await dumpSchema(client));
  return [...partsOf(pinned)].filter((part) => !found.has(part));
}

/** A column with its type and default; the others by name, because versions of PostgreSQL print them differently. */
function partsOf(dump: string): Set<string> {
  const parts = new Set<string>();
  let table = '';
  for (const line of dump.split('\n')) {
    const [, relation, index, constraint, column] =
      /^create (?:unlogged )?table (\S+)|^CREATE (?:UNIQUE )?INDEX (\S+)|^ {2}constraint (\S+)|^ {2}(.+?),?$/.exec(
        line,
      ) ?? [];
    if (relation !== undefined) table = relation;
    if (index !== undefined) parts.add(`the index ${index}`);
    if (constraint !== undefined) parts.add(`the constraint ${constraint} of ${table}`);
    if (column !== undefined) parts.add(`"${column}" of ${table}`);
  }
  return parts;
}

function foreign(what: string): Error {
  return new Error(`DATABASE_URL: the database cannot be migrated: ${what}, ${NOT_THIS_VERSION}`);
}
