/** What docs/scaling.md says of pgbouncer, where it is installed. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { demandMigrated } from '../../../../services/core/storage/demand-migrated.ts';
import { migrateDatabase } from '../../../../services/core/storage/migrate-database.ts';
import { openPool } from '../../../../services/core/storage/open-pool.ts';
import { createDatabase, createMigratedDatabase } from '../../../database.ts';
import { isInstalled } from '../../../docs/is-installed.ts';
import { startPgbouncer } from '../../../pgbouncer.ts';
import { openMerchant } from '../shop.ts';
import { openStage, type Stage } from '../stage.ts';

describe('behind pgbouncer', () => {
  before(function () {
    if (!isInstalled('pgbouncer')) this.skip();
  });

  it('a core serves in mode session as pgbouncer is installed, with its limits and plans', async () => {
    const database = await createMigratedDatabase();
    const pgbouncer = await startPgbouncer(database.url, 'session');
    let stage: Stage | undefined;
    try {
      stage = await openStage({ database: { ...database, url: pgbouncer.url } });
      const shop = await openMerchant(stage, 'acme');
      const hold = await shop.hold();
      await shop.capture(hold, 4_000n);
      await shop.release(hold);
      assert.deepEqual(await stage.audit('own books'), []);
      const text = `select current_setting('statement_timeout') as limit, current_setting('enable_seqscan') as seqscan`;
      assert.deepEqual(await stage.database.query({ name: '', text }, []), [{ limit: '8s', seqscan: 'off' }]);
    } finally {
      await stage?.close();
      await pgbouncer.close();
    }
  });

  it('a core does not start in mode transaction, and says so', async () => {
    const database = await createMigratedDatabase();
    const pgbouncer = await startPgbouncer(database.url, 'transaction');
    try {
      await assert.rejects(demandMigrated(pgbouncer.url), {
        message:
          /^DATABASE_URL: leads to a pooler that shares connections between transactions; set pool_mode = session/,
      });
      await demandMigrated(database.url);
    } finally {
      await pgbouncer.close();
      await database.drop();
    }
  });

  for (const mode of ['session', 'transaction'] as const) {
    it(`migrate runs in mode ${mode}, again and at once, and leaves no lock behind`, async () => {
      const database = await createDatabase();
      const pgbouncer = await startPgbouncer(database.url, mode);
      try {
        await Promise.all([migrateDatabase(pgbouncer.url), migrateDatabase(pgbouncer.url)]);
        await migrateDatabase(database.url);
        await migrateDatabase(pgbouncer.url);
        const direct = await openPool({ databaseUrl: database.url, poolSize: 1 });
        const text = `select count(*)::int as locks from pg_locks where locktype = 'advisory'
          and database = (select oid from pg_database where datname = current_database())`;
        assert.deepEqual(await direct.query({ name: '', text }, []), [{ locks: 0 }]);
        await direct.close();
      } finally {
        await pgbouncer.close();
        await database.drop();
      }
    });
  }
});

describe('openPool()', () => {
  it('starts a connection with parameters alone that every pooler takes', async () => {
    const first = Promise.withResolvers<Buffer>();
    const server = createServer((socket) => socket.once('data', (data) => socket.end(() => first.resolve(data))));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      await assert.rejects(openPool({ databaseUrl: `postgresql://holdfast@127.0.0.1:${port}/holdfast`, poolSize: 1 }));
      // After its length and the version of the protocol: names and values, each with a zero at its end.
      const [...words] = (await first.promise).subarray(8).toString().split('\0');
      const names = words.filter((word, index) => index % 2 === 0 && word !== '');
      assert.deepEqual(names.sort(), ['client_encoding', 'database', 'user']);
    } finally {
      server.close();
    }
  });
});
