import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { Client } from 'pg';
import { freePort } from '../../../services/quickstart/ports.ts';
import {
  type Postgres,
  type PostgresOptions,
  removePostgres,
  startPostgres,
} from '../../../services/quickstart/postgres.ts';

describe('startPostgres()', () => {
  let directory: string;
  let options: PostgresOptions;
  let postgres: Postgres;

  before(async () => {
    directory = await mkdtemp(`${tmpdir()}/holdfast-postgres-`);
    options = {
      directory: `${directory}/postgres`,
      logFile: `${directory}/postgres.log`,
      port: await freePort(),
      password: randomBytes(32).toString('base64url'),
      superuserPassword: randomBytes(32).toString('base64url'),
      fast: true,
    };
    postgres = await startPostgres(options);
  });

  after(async () => {
    await postgres.stop();
    await removePostgres(postgres.home);
    await rm(directory, { recursive: true });
  });

  it('gives the service a database of its own, without superuser rights', async () => {
    const rows = await query(
      postgres.url,
      'select current_user::text, rolsuper from pg_roles where rolname = current_user',
    );
    assert.deepEqual(rows, [{ current_user: 'holdfast', rolsuper: false }]);
  });

  it("does not let the service's password in as the superuser", async () => {
    const url = new URL(postgres.url);
    url.username = 'postgres';
    await assert.rejects(query(url.href, 'select 1'), { code: '28P01' });
    assert.deepEqual(await query(postgres.adminUrl, 'select current_user::text'), [{ current_user: 'postgres' }]);
  });

  it("puts root's data where the server's user can access it", async function () {
    if (process.getuid?.() !== 0) this.skip();
    // mkdtemp creates a folder with mode 700.
    assert.equal(postgres.home.moved, true);
    assert.match(postgres.home.root, /^\/var\/lib\/holdfast\/[0-9a-f]{16}$/);
    assert.notEqual((await stat(postgres.home.data)).uid, 0);
  });

  it('rejects a connection without the password', async () => {
    const url = postgres.url.replace(options.password, 'wrong');
    await assert.rejects(query(url, 'select 1'), { code: '28P01' });
  });

  it('is reached in clear, although the environment demands TLS of other databases', async () => {
    const { PGSSLMODE: before } = process.env;
    process.env.PGSSLMODE = 'require';
    const answers = Promise.all([postgres.url, postgres.adminUrl].map((url) => query(url, 'select 1 as one')));
    if (before === undefined) delete process.env.PGSSLMODE;
    else process.env.PGSSLMODE = before;
    assert.deepEqual(await answers, [[{ one: 1 }], [{ one: 1 }]]);
  });

  it('keeps statements and values out of its log', async () => {
    const secret = `s${randomBytes(8).toString('hex')}`;
    await assert.rejects(query(postgres.url, `select '${secret}'::int`), { code: '22P02' });
    await query(postgres.url, 'create table t (id text primary key)');
    await query(postgres.url, `insert into t values ('${secret}')`);
    await assert.rejects(query(postgres.url, `insert into t values ('${secret}')`), { code: '23505' });
    const log = await readFile(options.logFile, 'utf8');
    assert.match(log, /duplicate key value/);
    assert(!log.includes('insert into') && !log.includes(`(${secret})`));
    assert.equal((await stat(options.logFile)).mode & 0o777, 0o600);
  });

  it('stops a server left running on the same data, and keeps what it stored', async () => {
    const left = postgres;
    postgres = await startPostgres({ ...options, port: await freePort() });
    await left.exited;
    assert.deepEqual(await query(postgres.url, 'select count(*)::int from t'), [{ count: 1 }]);
  });
});

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
