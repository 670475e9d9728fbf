import assert from 'node:assert/strict';
import { Client } from 'pg';
import { demandMigrated } from '../../../../services/core/storage/demand-migrated.ts';
import { createDatabase, createMigratedDatabase, type TestDatabase } from '../../../database.ts';

describe('demandMigrated()', () => {
  const message = 'DATABASE_URL: the database lacks migrations of this version; run npm run migrate';
  const databases: TestDatabase[] = [];
  const keep = (database: TestDatabase) => {
    databases.push(database);
    return database.url;
  };
  after(() => Promise.all(databases.map((database) => database.drop())));

  it('accepts a database with all migrations, and with those of a later version', async () => {
    const url = keep(await createMigratedDatabase());
    await demandMigrated(url);
    await run(url, "insert into migration (name) values ('9999_later')");
    await demandMigrated(url);
  });

  it('says what to do about one without, and about one that lacks the last', async () => {
    await assert.rejects(demandMigrated(keep(await createDatabase())), { message });
    const url = keep(await createMigratedDatabase());
    await run(url, 'delete from migration where name = (select max(name) from migration)');
    await assert.rejects(demandMigrated(url), { message });
  });

  it('refuses a database that another version made, and one that records no hashes', async () => {
    for (const [change, refused] of [
      [
        "update migration set hash = 'x' where name = '0001_first_schema'",
        /made by another 0001_first_schema than this/,
      ],
      [
        "insert into migration (name, hash) values ('0001_other', 'x')",
        /has the migration 0001_other, which this version/,
      ],
      [
        "update migration set hash = null where name = '0001_first_schema'",
        /lacks migrations of this version; run npm/,
      ],
      ["update migration set step = 1 where name = '0002_terms_after'", /lacks migrations of this version; run npm/],
    ] as const) {
      const url = keep(await createMigratedDatabase());
      await run(url, change);
      await assert.rejects(demandMigrated(url), { message: refused });
    }
  });

  async function run(url: string, text: string): Promise<void> {
    const client = new Client(url);
    await client.connect();
    await client.query(text).finally(() => client.end());
  }
});
