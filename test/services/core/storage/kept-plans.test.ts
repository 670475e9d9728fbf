/**
 * PostgreSQL keeps the plan of a prepared statement unless plans for the values at hand look cheaper, which they do for
 * an array of one element: then a lone request pays for planning each time.
 */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import type { Database } from '../../../../services/core/storage/database.ts';
import { readHoldsOfOpen, readSubjects } from '../../../../services/core/storage/hold/read-holds.ts';
import { openPool } from '../../../../services/core/storage/open-pool.ts';
import { createMigratedDatabase, type TestDatabase } from '../../../database.ts';

describe('plans of what is read before a write', () => {
  let home: TestDatabase;
  let database: Database;

  before(async () => {
    home = await createMigratedDatabase();
    database = await openPool({ databaseUrl: home.url, poolSize: 1 });
  });

  after(async () => {
    await database.close();
    await home.drop();
  });

  for (const atOnce of [1, 32]) {
    it(`are kept with ${atOnce} at a time`, async () => {
      await database.dropIdle();
      const requests = Array.from({ length: atOnce }, () => ({ requestId: randomUUID(), idHash: randomBytes(32) }));
      for (let turn = 0; turn < 10; turn++) {
        await readSubjects(database.query, requests);
        const ids = requests.map(({ requestId }) => requestId);
        await readHoldsOfOpen(database.query, ids);
      }
      const kept = await database.query<{ name: string; kept: bigint }>(
        { name: '', text: 'select name, generic_plans as kept from pg_prepared_statements order by name' },
        [],
      );
      assert.deepEqual(kept, [
        { name: 'read-holds-of-open-submissions', kept: 5n },
        { name: 'read-subjects', kept: 5n },
      ]);
    });
  }
});
