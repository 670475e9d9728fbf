import assert from 'node:assert/strict';
import type { DatabaseClient } from '../../../../../platform/database-client.ts';
import { demandMigrated } from '../../../../../services/core/storage/demand-migrated.ts';
import { dumpSchema } from '../../../../../services/core/storage/dump-schema.ts';
import { migrateDatabase } from '../../../../../services/core/storage/migrate-database.ts';
import type { TestDatabase } from '../../../../database.ts';
import { createReleasedDatabase, migrationsOf, onDatabase } from './released-database.ts';

describe('adoptFirstRelease()', () => {
  const kept: TestDatabase[] = [];
  const keep = async (database: Promise<TestDatabase>) => {
    kept.push(await database);
    return (await database).url;
  };
  after(() => Promise.all(kept.map((database) => database.drop())));
  const dumpOf = (url: string) => onDatabase(url, (client) => dumpSchema(client as unknown as DatabaseClient));

  it('takes a database of 1.0.0 for one, after each of its migrations', async () => {
    const names = migrationsOf('1.0.0');
    for (const [index] of names.entries()) {
      const url = await keep(createReleasedDatabase(names.slice(0, index + 1)));
      await assert.rejects(demandMigrated(url), /run npm run migrate/);
      await migrateDatabase(url);
      await demandMigrated(url);
    }
  });

  it('takes one for it that its operator gave an index, a column, storage parameters and an aggregate', async () => {
    const url = await keep(createReleasedDatabase());
    await onDatabase(url, (client) =>
      client.query(`create index own on hold (user_id); alter table hold add own text;
        alter table hold set (autovacuum_vacuum_scale_factor = 0.02);
        create aggregate own_sum (bigint) (sfunc = int8pl, stype = bigint)`),
    );
    await migrateDatabase(url);
    await demandMigrated(url);
  });

  for (const [what, change, names, message] of [
    [
      'the first release before it was edited',
      'alter table hold rename column id_key to id_ciphertext',
      ['0001_first_schema'],
      /lacks "id_key text not null" of hold of release 1\.0\.0, so it belongs to an unreleased or edited version/,
    ],
    [
      'one without a CHECK',
      'alter table claim drop constraint claim_call',
      undefined,
      /lacks the constraint claim_call of/,
    ],
    ['one without an index', 'drop index claim_by_key', undefined, /lacks the index claim_by_key of release/],
    [
      'one whose tables are gone',
      'drop table submission cascade',
      ['0001_first_schema'],
      /migrations of release 1.0.0 do not fit it \(relation "submission" does not exist\), so it belongs/,
    ],
    [
      'a later migration without a hash',
      "insert into migration (name) values ('0003_z')",
      undefined,
      /has the migration 0003_z/,
    ],
  ] as const) {
    it(`refuses ${what} with a sentence, and changes nothing`, async () => {
      const url = await keep(createReleasedDatabase(names && [...names]));
      await onDatabase(url, (client) => client.query(change));
      const before = await dumpOf(url);
      await assert.rejects(migrateDatabase(url), { message });
      assert.equal(await dumpOf(url), before);
      await assert.rejects(demandMigrated(url), /^Error: DATABASE_URL: /);
    });
  }
});
