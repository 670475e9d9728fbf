import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { migrateDatabase } from '../../services/core/storage/migrate-database.ts';
import { createDatabase } from '../database.ts';
import { openMerchant, sql } from '../services/core/shop.ts';
import { openStage } from '../services/core/stage.ts';
import { forSuite } from '../suite.ts';
import { run } from '../torture/failover/postgres-pair.ts';
import { namedCode } from './code-blocks.ts';

describe('docs/runbook.md', () => {
  const stage = forSuite(() => openStage());
  const code = namedCode('runbook.md');

  it('has a query of the encryption keys that are needed', async () => {
    const shop = await openMerchant(stage, 'acme');
    const [open, recent, old] = [await shop.hold(), await shop.hold(), await shop.hold()];
    for (const each of [recent, old]) await shop.release(each);
    const made: [requestId: string, key: string, daysAgo: number][] = [
      [open.requestId, 'of-open', 8],
      [recent.requestId, 'of-recent', 6],
      [old.requestId, 'of-old', 8],
    ];
    const alter = `update hold set id_key = $2, created_at = now() - $3 * interval '1 day' where request_id = $1`;
    for (const values of made) await sql(stage, alter, values);
    const rows = await sql<{ key: string; holds: string; secrets: string }>(stage, code('keys'));
    assert.deepEqual(rows.map(({ key, holds, secrets }) => [key, Number(holds), Number(secrets)]).sort(), [
      ['of-open', 1, 0],
      ['of-recent', 1, 0],
      ['test', 0, 1],
    ]);
  });

  it('makes a second role for the database, which does everything as the first', async () => {
    const password = randomBytes(16).toString('hex');
    const database = await createDatabase();
    const adminUrl = process.env.TEST_DATABASE_ADMIN_URL ?? assert.fail();
    await run(adminUrl, code('second-role'), `alter role holdfast_2 password '${password}'`);
    try {
      const url = Object.assign(new URL(database.url), { username: 'holdfast_2', password });
      await migrateDatabase(url.href);
      const [owner, ...others] = await run<{ tableowner: string }>(database.url, OWNERS);
      assert.deepEqual([owner, others], [{ tableowner: 'holdfast' }, []]);
    } finally {
      await database.drop();
      await run(adminUrl, 'drop role holdfast_2');
    }
  });
});

const OWNERS = `select distinct tableowner from pg_tables where schemaname = 'public'`;
