import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { migrate } from '../../../../platform/adapter/postgres/migrate.ts';
import { createDatabase } from '../../../database.ts';

describe('migrate()', () => {
  const schema = { name: 'ledger', lock: 1, orderLock: 2, migrations: [{ name: '1', sql: 'CREATE TABLE kept ()' }] };
  const name = `test_${randomBytes(6).toString('hex')}`;

  /** What an administrator does. */
  async function run(...statements: string[]): Promise<void> {
    const client = new Client(process.env.TEST_DATABASE_ADMIN_URL);
    await client.connect();
    for (const text of statements) await client.query(text);
    await client.end();
  }

  it('says that the database is missing, and why it cannot be created', async () => {
    const database = await createDatabase();
    const url = Object.assign(new URL(database.url), { username: name, password: 'a-word', pathname: `/${name}` });
    await run(`create role ${name} login password 'a-word'`);
    try {
      await assert.rejects(migrate(url.href, schema), ({ message }: Error) => {
        assert.match(message, /^DATABASE_URL: .* does not exist, and cannot be created: permission denied/);
        return !message.includes('a-word');
      });
    } finally {
      await run(`drop role ${name}`);
      await database.drop();
    }
  });

  it('records the hash of what an earlier version recorded by name, and refuses another migration of that name', async () => {
    const database = await createDatabase();
    const client = new Client(database.url);
    await client.connect();
    try {
      await client.query(`create schema ledger; create table ledger.migration (name text primary key,
        done_at timestamptz not null default now()); insert into ledger.migration values ('1')`);
      const second = { name: '2', sql: 'CREATE TABLE more ()' };
      await migrate(database.url, { ...schema, migrations: [...schema.migrations, second] });
      const { rows } = await client.query('select name, length(hash) as length from ledger.migration order by 1');
      assert.deepEqual(rows, [
        { name: '1', length: 64 },
        { name: '2', length: 64 },
      ]);
      const edited = { ...schema, migrations: [{ name: '1', sql: 'CREATE TABLE another ()' }, second] };
      await assert.rejects(
        migrate(database.url, edited),
        /the schema ledger cannot be used: it was made by another 1 than/,
      );
    } finally {
      await client.end();
      await database.drop();
    }
  });
});
