import assert from 'node:assert/strict';
import { openLog } from '../../../../platform/log.ts';
import { watchHealth } from '../../../../services/core/health/watch-health.ts';
import type { Query } from '../../../../services/core/storage/database.ts';
import { openPool } from '../../../../services/core/storage/open-pool.ts';
import { createMigratedDatabase } from '../../../database.ts';

const log = openLog('test', 'silent');
const NONE = { names: [], of: () => assert.fail() };

interface Said {
  error?: Error;
  silent?: boolean;
  isWritable: boolean;
  hasStandby: boolean;
  aheadMs: number;
  dropped: number;
}

describe('watchHealth()', () => {
  /** A database with scripted states. */
  function fakeDatabase() {
    const said: Said = {
      isWritable: true,
      hasStandby: false,
      aheadMs: 0,
      dropped: 0,
    };
    let due = Promise.withResolvers<void>();
    const query = (async () => {
      due.resolve();
      if (said.silent) return new Promise(() => undefined);
      if (said.error) throw said.error;
      return [{ isWritable: said.isWritable, hasStandby: said.hasStandby, nowMs: Date.now() - said.aheadMs }];
    }) as unknown as Query;
    const dropIdle = async () => {
      said.dropped++;
    };
    /** Waits for two checks: the second one certainly began after the change. */
    const looked = async () => {
      for (let times = 0; times < 2; times++) {
        due = Promise.withResolvers();
        await due.promise;
      }
    };
    return { said, looked, database: { query, dropIdle } };
  }

  it('serves only while the database answers, and never again once it drains', async () => {
    const { said, looked, database } = fakeDatabase();
    const health = await watchHealth({ database, log, services: ['a.B'], processors: NONE, intervalMs: 1 });
    assert.equal(health.isServing(), true);
    said.error = new Error('connection refused');
    await looked();
    assert.equal(health.isServing(), false);
    delete said.error;
    await looked();
    assert.equal(health.isServing(), true);
    health.drain();
    await looked();
    assert.equal(health.isServing(), false);
    await health.close();
  });

  it('does not serve on a read-only database, and drops connections that may stay read-only', async () => {
    const { said, looked, database } = fakeDatabase();
    said.isWritable = false;
    const health = await watchHealth({ database, log, services: [], processors: NONE, intervalMs: 1 });
    assert.equal(health.isServing(), false);
    assert(said.dropped > 0);
    said.isWritable = true;
    await looked();
    assert.equal(health.isServing(), true);
    await health.close();
  });

  it('checks again although an earlier check hangs', async () => {
    const { said, looked, database } = fakeDatabase();
    said.silent = true;
    const opening = watchHealth({ database, log, services: [], processors: NONE, intervalMs: 1 });
    const health = await opening;
    assert.equal(health.isServing(), false);
    said.silent = false;
    await looked();
    assert.equal(health.isServing(), true);
    await health.close();
  });

  for (const [aheadMs, isServing] of [
    [0, true],
    [5_000, true],
    [-5_000, true],
    [8_000, false],
    // The database is ahead: the deadline of every call would be over sooner, from 15 s on before it has begun.
    [-8_000, false],
    [-3_600_000, false],
  ] as const) {
    it(`${isServing ? 'serves' : 'refuses'} with a clock ${aheadMs / 1_000} s ahead of the database's`, async () => {
      const { said, database } = fakeDatabase();
      said.aheadMs = aheadMs;
      const health = await watchHealth({ database, log, services: [], processors: NONE, intervalMs: 1_000 });
      assert.equal(health.isServing(), isServing);
      assert.equal(health.isClockSound(), isServing);
      assert.equal(Math.round(health.clockOffsetS() ?? Number.NaN), aheadMs / 1_000);
      await health.close();
    });
  }

  it('says for how long the primary has been without the standby that it had', async () => {
    const { said, looked, database } = fakeDatabase();
    const health = await watchHealth({ database, log, services: [], processors: NONE, intervalMs: 1 });
    await looked();
    assert.equal(health.aloneS(), 0, 'it never had one');
    said.hasStandby = true;
    await looked();
    assert.equal(health.aloneS(), 0);
    said.hasStandby = false;
    await looked();
    const aloneS = health.aloneS();
    assert(aloneS > 0);
    said.error = new Error('connection refused');
    await looked();
    assert(health.aloneS() > aloneS, 'an answer that is missing is no standby');
    delete said.error;
    said.hasStandby = true;
    await looked();
    assert.equal(health.aloneS(), 0);
    await health.close();
  });

  it('counts from its start where a standby is promised', async () => {
    const { looked, database } = fakeDatabase();
    const parts = { database, log, isStandbyComplete: true, services: [], processors: NONE, intervalMs: 1 };
    const health = await watchHealth(parts);
    await looked();
    assert(health.aloneS() > 0);
    await health.close();
  });

  it('detects that a real database has become read-only, and writable again', async () => {
    const test = await createMigratedDatabase();
    const database = await openPool({ databaseUrl: test.url, poolSize: 3 });
    const health = await watchHealth({ database, log, services: [], processors: NONE, intervalMs: 20 });
    const until = async (isServing: boolean, act = async () => {}) => {
      while (health.isServing() !== isServing) {
        await act();
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    };
    const alter = (change: string) =>
      database.transaction(async (query) => {
        await query({ name: '', text: 'set transaction read write' }, []);
        const name = new URL(test.url).pathname.slice(1);
        await query({ name: '', text: `alter database "${name}" ${change}` }, []);
      });
    try {
      await until(true);
      await alter('set default_transaction_read_only = on');
      // A connection that was in use meanwhile still writes.
      await until(false, () => database.dropIdle());
      await alter('reset default_transaction_read_only');
      await until(true);
    } finally {
      await health.close();
      await database.close();
      await test.drop();
    }
  });
});
