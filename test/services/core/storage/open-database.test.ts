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

    it('reads times whatever form the database writes them in', async () => {
      const { url, drop } = await createDatabase();
      const database = await open({ databaseUrl: url, poolSize: 1 });
      const name = new URL(url).pathname.slice(1);
      const text = "select '2027-02-01T12:00:00Z'::timestamptz as at";
      await database.query({ name: '', text: `alter database ${name} set datestyle = 'SQL, DMY'` }, []);
      await database.dropIdle();
      const [row] = await database.query<{ at: Date }>({ name: '', text }, []);
      assert.equal(row?.at?.toISOString(), '2027-02-01T12:00:00.000Z');
      await database.close();
      await drop();
    });
  });
}
