import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { entityFaults } from '../../../../.ci/schema.ts';
import type { OrmDatabase } from '../../../../services/core/storage/database.ts';
import { migrateDatabase } from '../../../../services/core/storage/migrate-database.ts';
import { openDatabase } from '../../../../services/core/storage/open-database.ts';
import { createDatabase, type TestDatabase } from '../../../database.ts';

describe('migrateDatabase()', () => {
  let test: TestDatabase;
  let database: OrmDatabase;

  before(async () => {
    test = await createDatabase();
    await Promise.all([migrateDatabase(test.url), migrateDatabase(test.url)]);
    database = await openDatabase({ databaseUrl: test.url, poolSize: 2 });
  });

  after(async () => {
    await database.close();
    await test.drop();
  });

  it('creates the columns that the entities describe', async () => {
    assert.deepEqual(await entityFaults(test.url), []);
  });

  it('gives every table that grows a merchant_id, so that it can be distributed by merchant', async () => {
    const without = await database.query<{ name: string }>(
      {
        name: '',
        text: `select relname as name from pg_class c where relnamespace = 'public'::regnamespace and relkind in ('r',
          'p')
          and not exists (select from pg_attribute where attrelid = c.oid and attname = 'merchant_id') order by 1`,
      },
      [],
    );
    assert.deepEqual(
      without.map(({ name }) => name),
      [
        ...[
          'audit_entry',
          'audit_link',
          'ended_session',
          'installation',
          'merchant',
          'migration',
          'processor_identity',
        ],
        'verification_failure',
      ],
    );
  });

  it('changes nothing when it runs again, and prints nothing as a process', async () => {
    const done = () => database.query<{ name: string }>({ name: 'done', text: 'select name from migration' }, []);
    const before = await done();
    const { stdout, stderr } = await promisify(execFile)('node', ['services/core/migrate.ts'], {
      env: { ...process.env, DATABASE_URL: test.url },
    });
    assert.deepEqual([stdout, stderr], ['', '']);
    assert.deepEqual(await done(), before);
  });

  it('does not take a database for migrated that lacks a migration', async () => {
    const run = (text: string) => database.query({ name: '', text }, []);
    await run("update migration set name = 'x' || name");
    await assert.rejects(migrateDatabase(test.url), /already exists/);
    await run('update migration set name = substr(name, 2)');
    await migrateDatabase(test.url);
  });

  it('reports an error on standard error only', async () => {
    for (const [url, message] of [
      [
        'postgres://holdfast:secret-password@127.0.0.1:1/holdfast',
        /^holdfast migrate: DATABASE_URL: cannot use the database 127\.0\.0\.1:1\/holdfast: .*\(ECONNREFUSED\)\n$/,
      ],
      ['', /^holdfast migrate: settings: DATABASE_URL is not set\n$/],
    ] as const) {
      const failed = promisify(execFile)('node', ['services/core/migrate.ts'], {
        env: { ...process.env, DATABASE_URL: url },
      });
      await assert.rejects(failed, ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => {
        assert.deepEqual([code, stdout], [1, '']);
        assert.match(stderr, message);
        assert.doesNotMatch(stderr, /secret-password/);
        return true;
      });
    }
  });
});
