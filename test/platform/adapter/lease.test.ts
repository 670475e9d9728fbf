import assert from 'node:assert/strict';
import { openDatabase } from '../../../platform/adapter/postgres/database.ts';
import { openLeases } from '../../../platform/adapter/postgres/lease.ts';
import { createDatabase } from '../../database.ts';

describe('openLeases()', () => {
  it('returns what was done when the database is gone before the lease is given back', async () => {
    const made = await createDatabase();
    const database = openDatabase(made.url, 'public');
    await database.query('CREATE TABLE entry (request_id text, lease_by uuid, lease_until timestamptz)');
    await database.query(`INSERT INTO entry VALUES ('hold')`);
    const turn = await openLeases(database).run('hold', 0, async () => {
      await database.close();
      return 'done';
    });
    assert.deepEqual(turn, { done: 'done' });
    await made.drop();
  });
});
