import assert from 'node:assert/strict';
import { openDatabase } from '../../../../services/core/storage/open-database.ts';
import { openPool } from '../../../../services/core/storage/open-pool.ts';
import { createDatabase } from '../../../database.ts';

for (const open of [openDatabase, openPool]) {
  describe(`${open.name}()`, () => {
    it('does not connect without TLS when its URL requires it', async () => {
      const { url, drop } = await createDatabase();
      // The tests' PostgreSQL has no certificate.
      const opening = open({ databaseUrl: `${url}?sslmode=verify-full`, poolSize: 1 });
      await assert.rejects(opening, /does not support SSL/);
      await drop();
    });
  });
}
