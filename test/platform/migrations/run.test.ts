import assert from 'node:assert/strict';
import { Client } from 'pg';
import { connectAtStart, type DatabaseClient } from '../../../platform/database-client.ts';
import { takeMigrationLock } from '../../../platform/migrations/lock.ts';
import { missingMigrations, readRecorded } from '../../../platform/migrations/recorded.ts';
import { type Migration, recordExtension, runMigrations } from '../../../platform/migrations/run.ts';
import { createDatabase, type TestDatabase } from '../../database.ts';

describe('runMigrations()', () => {
  let test: TestDatabase;
  let client: DatabaseClient;
  let other: Client;
  const said: string[] = [];

  beforeEach(async () => {
    test = await createDatabase();
    client = await connectAtStart(test.url);
    other = new Client({ connectionString: test.url, application_name: 'a report' });
    await other.connect();
    await client.query(`create table migration (name text primary key); ${recordExtension('migration')};
      create table paid (amount int); insert into paid values (1), (1)`);
    said.length = 0;
  });
  afterEach(async () => {
    await client.end();
    await other.end();
    await test.drop();
  });

  const migration = (...statements: string[]): Migration => ({ name: '0001', hash: 'h', statements });
  const run = async (what: Migration, whileWaiting: () => Promise<unknown> = async () => undefined) =>
    runMigrations(client, [what], await readRecorded(client, 'migration'), {
      table: 'migration',
      lockPid: 0,
      mostTries: 3,
      pause: whileWaiting,
      say: (line) => said.push(line),
    });

  it('tries again while a reader is in its way, and says who', async () => {
    await other.query('begin; select from paid');
    await run(migration('alter table paid add note text'), () => other.query('commit'));
    assert.equal(said.length, 1);
    assert.match(
      said[0] ?? '',
      /^0001 waits: a table is in use, try 1 of 3; process \d+ \(a report\) of the server has been/,
    );
    assert.deepEqual(await readRecorded(client, 'migration'), new Map([['0001', { hash: 'h', step: null }]]));
  });

  it('waits for the locks of one transaction together no longer than for one', async () => {
    await client.query('create table second (); create table third ()');
    await other.query('begin; select from third');
    const statements = ['paid', 'second', 'third'].map((table) => `alter table ${table} add note text`);
    await run(migration(...statements), () => other.query('commit'));
    assert.equal(said.length, 1);
  });

  it('gives up after so many tries, and has changed nothing', async () => {
    await other.query('begin; select from paid');
    const both = migration('create table fresh ()', 'alter table paid add note text');
    await assert.rejects(
      run(both),
      /^Error: 0001: a table was in use in each of 3 tries; process \d+ .*; run it again later$/,
    );
    const { rows } = await client.query("select to_regclass('fresh') as fresh, count(*)::int as done from migration");
    assert.deepEqual(rows, [{ fresh: null, done: 0 }]);
  });

  it('goes on after the step that failed, and builds an index anew that was not built to its end', async () => {
    const steps = migration(
      'alter table paid add note text',
      'create unique index concurrently "paid_once" on "paid" ("amount")',
      'alter table paid add constraint paid_note check (note is null) not valid',
      'alter table paid validate constraint paid_note',
    );
    await assert.rejects(run(steps), /could not create unique index/);
    const recorded = await readRecorded(client, 'migration');
    assert.deepEqual(recorded.get('0001'), { hash: 'h', step: 1 });
    assert.deepEqual(missingMigrations(recorded, [steps]), [steps]);
    await client.query('delete from paid');
    await run(steps);
    const { rows } = await client.query(
      `select indisvalid, (select convalidated from pg_constraint where conname = 'paid_note')
        from pg_index where indexrelid = 'paid_once'::regclass`,
    );
    assert.deepEqual(rows, [{ indisvalid: true, convalidated: true }]);
    assert.deepEqual(missingMigrations(await readRecorded(client, 'migration'), [steps]), []);
  });

  it('does not build an index again that was built before the process ended', async () => {
    await client.query('create index concurrently paid_amount on paid (amount)');
    await run(migration('create index concurrently paid_amount on paid (amount)'));
  });

  describe('with an index of a partitioned table', () => {
    const build = migration('create index concurrently "sent_by_note" on "sent" ("note") where note is not null;');
    beforeEach(async () => {
      await client.query(`create table sent (id int primary key, note text) partition by range (id);
        create table sent_a partition of sent for values from (0) to (10);
        create table sent_b partition of sent for values from (10) to (20);
        insert into sent select n, n from generate_series(0, 19) n`);
    });
    const indexes = async () => {
      const { rows } = await client.query<{ index: string; valid: boolean }>(
        `select indexrelid::regclass::text as index, indisvalid as valid from pg_index
          where indexrelid::regclass::text like '%note%' order by 1`,
      );
      return rows.map(({ index, valid }) => `${index} ${valid}`);
    };
    const ALL = ['sent_a_sent_by_note true', 'sent_b_sent_by_note true', 'sent_by_note true'];

    it('builds it partition by partition, while one is written to', async () => {
      await other.query(`begin; insert into sent values (0, 'x') on conflict do nothing`);
      const building = run(build, () => other.query('commit'));
      await building;
      assert.deepEqual(await indexes(), ALL);
    });

    it('goes on where a run before it ended', async () => {
      await client.query(`create index sent_by_note on only sent (note) where note is not null;
        create index sent_a_sent_by_note on sent_a (note) where note is not null`);
      await run(build);
      assert.deepEqual(await indexes(), ALL);
      await run({ ...build, name: '0002' });
      assert.deepEqual(await indexes(), ALL);
    });

    it('gives it to partitions that are made later', async () => {
      await run(build);
      await client.query(`create table sent_c (like sent including all);
        alter table sent attach partition sent_c for values from (20) to (30)`);
      assert.equal((await indexes()).filter((each) => each.endsWith(' true')).length, 4);
    });
  });
});

describe('takeMigrationLock()', () => {
  it('waits for who holds it, says who that is, and leaves nothing in the session', async () => {
    const test = await createDatabase();
    const other = new Client({ connectionString: test.url });
    await other.connect();
    try {
      await other.query('select pg_advisory_lock(42)');
      const { rows } = await other.query<{ pid: number }>('select pg_backend_pid() as pid');
      const waiting = Promise.withResolvers<string>();
      const taken = takeMigrationLock(test.url, 42, waiting.resolve);
      assert.match(
        await waiting.promise,
        new RegExp(`^waits for another migration: process ${rows[0]?.pid} of the server`),
      );
      await other.query('select pg_advisory_unlock(42)');
      const lock = await taken;
      const held = `select state, backend_xmin as xmin from pg_locks l join pg_stat_activity a using (pid)
        where locktype = 'advisory' and datname = current_database()`;
      assert.deepEqual((await other.query(held)).rows, [{ state: 'idle in transaction', xmin: null }]);
      await lock[Symbol.asyncDispose]();
    } finally {
      await other.end();
      await test.drop();
    }
  });
});
