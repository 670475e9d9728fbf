import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type pg from 'pg';
import { ledgerMigrations } from '../../.ci/ledgers.ts';
import { newestRelease, RELEASES, schemaFile } from '../../.ci/releases.ts';
import { ROOT } from '../../.ci/sources.ts';
import { hashMigration } from '../../platform/migrations/recorded.ts';
import { loadMigration, treeMigrations } from '../../services/core/storage/tree-migrations.ts';
import {
  createReleasedDatabase,
  migrationsOf,
  onDatabase,
} from '../services/core/storage/released/released-database.ts';
import { lockFaults } from './migration-locks.ts';

/**
 * Statements that break the previous version, which still uses the table or column, or inserts rows without the new
 * one.
 */
const NARROWING =
  /\b(drop\s+(table|column)|rename|alter\s+column|truncate|add\s+column\s+"?\w+"?\s+[\w()]+(\[\])?\s+not\s+null(?!\s+default))\b/i;

/**
 * A constraint is dropped only as a CHECK that the same statement adds again, or that is a rule of a function of the
 * same migration: it is replaced by one that allows all that it allowed and more, as a test of the release before shows.
 * Others, such as UNIQUE, are what its statements rely on.
 */
const DROPPED = /drop\s+constraint\s+(?:if\s+exists\s+)?("\w+"|\w+)/gi;

/** The constraints that a statement of a migration drops for good. */
function lostBy(sql: string, migration: readonly string[] = []): string[] {
  const dropped = [...sql.matchAll(DROPPED)].map(([, name = '']) => name);
  const functions = migration.filter((text) => /^\s*create (or replace )?function\b/.test(text));
  return dropped.filter((name) => {
    const isAdded = new RegExp(`add\\s+constraint\\s+${name}\\s+check\\b`, 'i').test(sql);
    return !isAdded && !functions.some((text) => text.includes(`then '${name.replaceAll('"', '')}'`));
  });
}

/** Runs something in a database of the newest release, and drops it. */
async function inReleased(run: (client: pg.Client) => Promise<void>): Promise<void> {
  const database = await createReleasedDatabase(migrationsOf(newestRelease().version));
  try {
    await onDatabase(database.url, run);
  } finally {
    await database.drop();
  }
}

describe('migrations', () => {
  it('do not drop, rename or narrow a table or column', async () => {
    for (const known of await treeMigrations()) {
      const { statements } = await loadMigration(known);
      assert(statements.length > 0, known.name);
      for (const sql of statements) {
        assert.doesNotMatch(sql, NARROWING, known.name);
        assert.deepEqual(lostBy(sql, statements), [], known.name);
      }
    }
  });

  it('are never edited once they are released', async () => {
    const own = Object.fromEntries((await treeMigrations()).map(({ name, hash }) => [name, hash]));
    const here: Record<string, string> = { ...own, ...ledgerMigrations() };
    for (const { version, migrations, ledgers, schema } of RELEASES) {
      for (const [name, hash] of Object.entries({ ...migrations, ...ledgers })) {
        assert.equal(here[name], hash, `${name} of ${version}`);
      }
      const pinned = await readFile(ROOT + schemaFile(version), 'utf8');
      assert.equal(hashMigration(pinned), schema, `schema of ${version}`);
    }
  });

  it('stop nobody who reads or writes meanwhile', async () => {
    await inReleased(async (client) => {
      const released = new Set(RELEASES.flatMap(({ migrations }) => Object.keys(migrations)));
      for (const known of await treeMigrations()) {
        if (released.has(known.name)) continue;
        assert.deepEqual(await lockFaults(client, (await loadMigration(known)).statements), [], known.name);
      }
    });
  });

  it('would be found otherwise', async () => {
    for (const sql of [
      'alter table "hold" drop column "amount"',
      'drop table "hold"',
      'alter table "hold" rename to "reservation"',
      'alter table "hold" alter column "amount" type int',
      'alter table "hold" add column "tip" bigint not null;',
    ]) {
      assert.match(sql, NARROWING);
    }
    assert.doesNotMatch('alter table "hold" add column "tip" bigint not null default 0', NARROWING);
    assert.deepEqual(lostBy('alter table "a" drop constraint "a_key", add constraint "b" check (true)'), ['"a_key"']);
    assert.deepEqual(lostBy('alter table "a" drop constraint "b", add constraint "b" unique ("c")'), ['"b"']);
    assert.deepEqual(lostBy('alter table "a" drop constraint "b", add constraint "b"\n check (c > 0) not valid'), []);
    const rules = ["create function a_rules (c int) returns boolean as 'case when not (c > 0) then ''b'' end'"];
    assert.deepEqual(lostBy('alter table "a" drop constraint "c"', rules), ['"c"']);
    assert.deepEqual(lostBy('alter table "a" drop constraint "b"', [rules[0]?.replaceAll("''", "'") ?? '']), []);
  });

  for (const [faults, ...statements] of STOPPING()) {
    it(`stop somebody with: ${statements.join('; ')}`, () =>
      inReleased(async (client) => assert.match((await lockFaults(client, statements)).join('\n'), faults)));
  }

  it('stop nobody with columns, new tables, constraints and indexes in steps', async () => {
    await inReleased(async (client) => {
      const faults = await lockFaults(client, [
        'alter table hold add column tip bigint not null default 0, add column note text',
        'alter table submission add column note text',
        'create table fresh (id uuid primary key); create index fresh_by_id on fresh (id)',
        'alter table hold drop constraint hold_status, add constraint hold_status check (tip >= 0) not valid',
        'alter table hold validate constraint hold_status',
        'create index concurrently hold_by_tip on hold (tip)',
        'create index concurrently delivery_by_kind on delivery (kind, created_at)',
        'create unique index concurrently "hold_by_note" on "hold" ("note") where note is not null',
      ]);
      assert.deepEqual(faults, []);
    });
  });
});

function STOPPING(): readonly (readonly [RegExp, ...string[]])[] {
  const locked = /: all its rows are read while nobody can write/;
  return [
    [locked, 'create index tip on hold (amount)'],
    [locked, 'alter table hold add constraint tip check (amount > 0)'],
    [locked, 'alter table submission add constraint tip unique (request_id, kind)'],
    [locked, 'alter table hold add column tip int default 0 check (tip = 0)'],
    [
      locked,
      'alter table hold alter column amount_asked set not null, alter user_id set not null; create index t on hold (user_id)',
    ],
    [/hold: is written anew/, 'alter table hold add column tip uuid default gen_random_uuid()'],
    [/hold: is written anew/, 'alter table hold add column tip bigint generated always as (amount + 1) stored'],
    [/hold: rows are changed/, 'alter table submission add note text', "update hold set user_id = ''"],
    [
      /one concurrent index or one VALIDATE/,
      'alter table hold add constraint t check (amount > 0) not valid, validate constraint t',
    ],
    [/one concurrent index or one VALIDATE/, 'drop index concurrently hold_by_user'],
  ];
}
