/**
 * The oldest PostgreSQL that docs/high-availability.md names, where Debian's is installed. The other tests run on the
 * newest.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { demandMigrated } from '../../../../services/core/storage/demand-migrated.ts';
import { migrateDatabase } from '../../../../services/core/storage/migrate-database.ts';
import { freePort } from '../../../../services/quickstart/ports.ts';
import { choosePostgresHome } from '../../../../services/quickstart/postgres-home.ts';
import { createDatabase } from '../../../database.ts';
import { openMerchant } from '../shop.ts';
import { openStage } from '../stage.ts';
import { createReleasedDatabase, migrationsOf, onDatabase } from './released/released-database.ts';

/** OLDEST_POSTGRES names the folder of its programs where they are elsewhere. */
const PROGRAMS = process.env.OLDEST_POSTGRES ?? '/usr/lib/postgresql/15/bin';
const run = promisify(execFile);

describe('PostgreSQL 15', () => {
  let given: NodeJS.ProcessEnv;
  let stop: (() => Promise<void>) | undefined;

  before(async function () {
    given = { ...process.env };
    if (!existsSync(`${PROGRAMS}/pg_ctl`)) return this.skip();
    const { root, process: owner } = await choosePostgresHome(await mkdtemp(`${tmpdir()}/holdfast-oldest-`));
    const port = await freePort();
    const data = `${root}/data`;
    await run(
      `${PROGRAMS}/initdb`,
      ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N'],
      owner,
    );
    const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off`;
    await run(`${PROGRAMS}/pg_ctl`, ['-D', data, '-l', `${root}/log`, '-o', options, '-w', 'start'], owner);
    stop = async () => {
      await run(`${PROGRAMS}/pg_ctl`, ['-D', data, '-m', 'immediate', '-w', 'stop'], owner);
      await rm(root, { recursive: true });
    };
    process.env.TEST_DATABASE_ADMIN_URL = `postgresql://postgres@127.0.0.1:${port}/postgres`;
    process.env.TEST_DATABASE_URL = `postgresql://holdfast@127.0.0.1:${port}/postgres`;
    await run(`${PROGRAMS}/psql`, ['-qc', 'create role holdfast login', process.env.TEST_DATABASE_ADMIN_URL], owner);
    const template = new URL((await createDatabase()).url);
    await migrateDatabase(template.href);
    process.env.TEST_DATABASE_TEMPLATE = template.pathname.slice(1);
  });

  after(async () => {
    for (const name of ['TEST_DATABASE_ADMIN_URL', 'TEST_DATABASE_URL', 'TEST_DATABASE_TEMPLATE'])
      process.env[name] = given[name];
    await stop?.();
  });

  it('has the schema, and holds and captures, with clean books', async () => {
    const stage = await openStage();
    try {
      const shop = await openMerchant(stage, 'acme');
      const hold = await shop.hold();
      await shop.capture(hold, 4_000n);
      await shop.release(hold);
      assert.deepEqual(await shop.results(hold), ['authorized', 'captured 4000', 'released 6000']);
      assert.deepEqual(await stage.audit(), []);
    } finally {
      await stage.close();
    }
  });

  it('adopts a database of release 1.0.0, after each of its migrations', async () => {
    const names = migrationsOf('1.0.0');
    const { rows: newest } = await onDatabase(templateUrl(), (client) => client.query(INDEXES));
    for (const [index] of names.entries()) {
      const { url } = await createReleasedDatabase(names.slice(0, index + 1));
      await assert.rejects(demandMigrated(url), /run npm run migrate/);
      await migrateDatabase(url);
      await demandMigrated(url);
      const { rows } = await onDatabase(url, (client) => client.query(INDEXES));
      assert.deepEqual(rows, newest);
    }
  });
});

const templateUrl = () =>
  `${process.env.TEST_DATABASE_URL}`.replace(/postgres$/, `${process.env.TEST_DATABASE_TEMPLATE}`);

/** A partition's own are named by its month. */
const INDEXES = `select c.relname as name, i.indisvalid as valid from pg_index i join pg_class c on c.oid = i.indexrelid
    join pg_class t on t.oid = i.indrelid
  where c.relnamespace = 'public'::regnamespace and not t.relispartition order by 1`;
