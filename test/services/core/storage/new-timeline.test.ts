import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Database } from '../../../../services/core/storage/database.ts';
import { openPool } from '../../../../services/core/storage/open-pool.ts';
import {
  IS_NOT_RECONCILING,
  LOST_BELOW,
  noticeTimeline,
  reconcilingSince,
} from '../../../../services/core/storage/reconciling.ts';
import { createMigratedDatabase } from '../../../database.ts';
import { openStage, why } from '../stage.ts';

describe('a timeline that no process has noticed yet', () => {
  let test: Awaited<ReturnType<typeof createMigratedDatabase>>;
  /** Of processes with SYNCHRONOUS_STANDBY=true, and without it. */
  let complete: Database;
  let unsure: Database;

  before(async () => {
    test = await createMigratedDatabase();
    complete = await openPool({ databaseUrl: test.url, poolSize: 1, isStandbyComplete: true });
    unsure = await openPool({ databaseUrl: test.url, poolSize: 1 });
  });
  after(async () => {
    await complete.close();
    await unsure.close();
    await test.drop();
  });
  beforeEach(() => promote());

  const promote = () =>
    unsure.query({ name: '', text: "update installation set timeline = 'before', reconciling_since = null" }, []);
  const asked = async ({ query }: Database) => {
    const text = `select ${IS_NOT_RECONCILING} as is_complete, ${LOST_BELOW} is null as has_all`;
    const [row] = await query<{ isComplete: boolean; hasAll: boolean }>({ name: '', text }, []);
    return { ...row, since: await reconcilingSince(query) };
  };

  it('counts as complete where a synchronous standby is promised, as it will when it is noticed', async () => {
    const all = { isComplete: true, hasAll: true, since: undefined };
    assert.deepEqual(await asked(complete), all);
    assert.equal(await noticeTimeline(complete.query, true), true);
    assert.deepEqual(await asked(complete), all);
    assert.deepEqual(await asked(unsure), all);
  });

  it('counts as one that lacks something elsewhere', async () => {
    const { isComplete, hasAll, since } = await asked(unsure);
    assert.deepEqual([isComplete, hasAll, since instanceof Date], [false, false, true]);
  });

  it('is reconciled by all once somebody has noticed that it may lack something', async () => {
    await noticeTimeline(unsure.query, false);
    for (const database of [complete, unsure]) {
      const { isComplete, hasAll, since } = await asked(database);
      assert.deepEqual([isComplete, hasAll, since instanceof Date], [false, false, true]);
    }
  });

  for (const [promised, word] of [
    ['true', 'PREAUTHORIZATION_NOT_FOUND'],
    ['false', 'RECONCILING'],
  ] as const) {
    it(`lets a core with SYNCHRONOUS_STANDBY=${promised} answer ${word}`, async () => {
      const stage = await openStage({ environment: { SYNCHRONOUS_STANDBY: promised } });
      const [promoting, keeping] = [await stage.sqlPool.connect(), await stage.sqlPool.connect()];
      try {
        await promoting.query("begin; update installation set timeline = 'before'");
        // It waits for the row before the core does, which therefore cannot store that it has noticed the timeline.
        const kept = keeping.query('begin; select from installation for update');
        const waits = "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
        while ((await stage.sqlPool.query(waits)).rowCount !== 1);
        await promoting.query('commit');
        await kept;
        const { holds } = stage.channel('internal');
        const asked = holds.getPreauthorization({ merchantId: 'acme', requestId: randomUUID() });
        assert.equal(await why(asked), word);
        await keeping.query('commit');
      } finally {
        promoting.release();
        keeping.release();
        await stage.close();
      }
    });
  }
});
