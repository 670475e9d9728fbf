import assert from 'node:assert/strict';
import { access, readFile } from 'node:fs/promises';
import { Client } from 'pg';
import { createMigratedDatabase, type TestDatabase } from '../database.ts';
import { readCodeBlocks } from './code-blocks.ts';

const root = new URL('../../', import.meta.url);
const blocks = readCodeBlocks('docs/scaling.md');

describe('docs/scaling.md', () => {
  let database: TestDatabase;
  let client: Client;

  before(async () => {
    database = await createMigratedDatabase();
    client = new Client({ connectionString: database.url });
    await client.connect();
  });
  after(async () => {
    await client.end();
    await database.drop();
  });

  for (const { name, code } of blocks.filter(({ language }) => language === 'sql')) {
    it(`shows a query of ${name} that runs`, async () => {
      const { fields } = await client.query(code);
      assert(fields.length > 0);
    });
  }

  it('lists each unique constraint that does not contain the merchant', async () => {
    const { rows } = await client.query<{ name: string }>(`select c.relname as name from pg_index i
      join pg_class c on c.oid = i.indexrelid join pg_class t on t.oid = i.indrelid
      where t.relnamespace = 'public'::regnamespace and i.indisunique and not t.relispartition
        and not exists (select from pg_attribute where attrelid = t.oid and attnum = any (i.indkey)
          and attname = 'merchant_id')`);
    const [, section = ''] =
      /^\*\*Unique constraints\*\*(.*?)^\*\*Statements/ms.exec(
        await readFile(new URL('docs/scaling.md', root), 'utf8'),
      ) ?? [];
    const listed = [...section.matchAll(/`(\w+_(?:pkey|unique|by_processor_request_id))`/g)].map(([, name]) => name);
    assert.deepEqual(listed.sort(), rows.map(({ name }) => name).sort());
  });

  it('names tests that exist; every other command is for a deployment', async () => {
    const commands = blocks.filter(({ language, name }) => language === 'sh' && name !== 'deployment');
    assert.equal(commands.length, 1);
    for (const { code } of commands) {
      const [, file = ''] = /^npx mocha (\S+)\n$/.exec(code) ?? [];
      await access(new URL(file, root));
    }
  });
});
