import assert from 'node:assert/strict';
import { type Database, openDatabase } from '../../../../services/core/storage/database.ts';
import { migrate } from '../../../../services/core/storage/migrate.ts';
import { createDatabase, type TestDatabase } from '../../../database.ts';

describe('migrate()', () => {
  let test: TestDatabase;
  let database: Database;

  before(async () => {
    test = await createDatabase();
    await Promise.all([migrate(test.url), migrate(test.url)]);
    database = await openDatabase({ databaseUrl: test.url, poolSize: 2 });
  });

  after(async () => {
    await database.close();
    await test.drop();
  });

  it('makes exactly the tables that the entities describe', async () => {
    const difference = await database.orm.schema.getUpdateSchemaSQL({ safe: true, dropTables: false, wrap: false });
    assert.equal(difference, '');
  });
});
