import assert from 'node:assert/strict';
import { access } from 'node:fs/promises';
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

  it('names tests that exist; every other command is for a deployment', async () => {
    const commands = blocks.filter(({ language, name }) => language === 'sh' && name !== 'deployment');
    assert.equal(commands.length, 1);
    for (const { code } of commands) {
      const [, file = ''] = /^npx mocha (\S+)\n$/.exec(code) ?? [];
      await access(new URL(file, root));
    }
  });
});
