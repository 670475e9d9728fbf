import assert from 'node:assert/strict';
import { openDatabase } from '../../../../services/core/storage/open-database.ts';
import { openPool } from '../../../../services/core/storage/open-pool.ts';
import { createDatabase } from '../../../database.ts';

for (const open of [openDatabase, openPool]) {
  describe(`${open.name}()`, () => {
    it('does not connect without TLS when its URL requires it', async () => {
      const { url, drop } = await createDatabase();
      const demanding = new URL(url);
      // The tests' PostgreSQL has no certificate.
      demanding.searchParams.set('sslmode', 'verify-full');
      await assert.rejects(open({ databaseUrl: demanding.href, poolSize: 1 }), /does not support SSL/);
      await drop();
    });
  });
}
