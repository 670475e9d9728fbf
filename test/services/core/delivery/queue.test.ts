import assert from 'node:assert/strict';
import { v7 as uuidv7 } from 'uuid';
import { openLog } from '../../../../platform/log.ts';
import { openQueue, type Queue } from '../../../../services/core/delivery/queue.ts';
import { migrateDatabase } from '../../../../services/core/migrate-database.ts';
import type { Database } from '../../../../services/core/storage/database.ts';
import { openDatabase } from '../../../../services/core/storage/open-database.ts';
import { createDatabase, type TestDatabase } from '../../../database.ts';

describe('openQueue()', () => {
  const log = openLog('test', 'silent');
  let test: TestDatabase;
  let database: Database;
  let core: Queue;
  let worker: Queue;

  before(async () => {
    test = await createDatabase();
    await migrateDatabase(test.url);
    await migrateDatabase(test.url);
    database = await openDatabase({ databaseUrl: test.url, poolSize: 2 });
    core = await openQueue(test.url, 'core', log);
    worker = await openQueue(test.url, 'worker', log);
  });

  after(async () => {
    await core.close();
    await worker.close();
    await database.close();
    await test.drop();
  });

  const take = (limit = 10, endpointLimit = 10) => worker.fetch({ limit, endpointLimit });
  const remove = async () => {
    const taken = await worker.fetch({ limit: 1_000, endpointLimit: 1_000, early: true });
    await database.transaction((query) => worker.replace(query, taken, []));
  };

  afterEach(remove);

  it('wakes a worker when core rings, and gives every alarm to one worker', async () => {
    const announced = Promise.withResolvers<void>();
    await worker.listen(() => announced.resolve());
    const alarms = [1, 2, 3].map(() => ({ id: uuidv7(), endpoint: 'm/webhook' }));
    await core.trySet(alarms);
    await announced.promise;
    const [first, second] = await Promise.all([take(2), take(2)]);
    const ids = [...first, ...second].map(({ id }) => id);
    assert.deepEqual(ids.sort(), alarms.map(({ id }) => id).sort());
    await database.transaction((query) => worker.replace(query, [...first, ...second], []));
  });

  it('keeps one alarm per delivery', async () => {
    const id = uuidv7();
    await core.trySet([{ id, endpoint: 'm/webhook' }]);
    await core.trySet([{ id, endpoint: 'm/webhook' }]);
    assert.equal((await take()).length, 1);
    assert.equal((await take()).length, 0);
  });

  it('replaces an alarm and sets the next one with the transaction, or does neither', async () => {
    const id = uuidv7();
    await core.trySet([{ id, endpoint: 'm/webhook' }]);
    const taken = await take();
    const next = [{ id, endpoint: 'm/webhook', inMs: 60_000 }];
    const failed = database.transaction(async (query) => {
      await worker.replace(query, taken, next);
      throw new Error('stop');
    });
    await assert.rejects(failed, /stop/);
    await database.transaction((query) => worker.replace(query, taken, next));
    assert.deepEqual(await take(), []);
    await worker.move(id, 0);
    assert.deepEqual(
      (await take()).map((alarm) => alarm.id),
      [id],
    );
  });

  it('limits an endpoint to its cap and postpones its other alarms', async () => {
    const slow = [1, 2, 3, 4].map(() => ({ id: uuidv7(), endpoint: 'slow/webhook' }));
    const other = { id: uuidv7(), endpoint: 'other/webhook' };
    await core.trySet([...slow, other]);
    const taken = [...(await take(10, 2)), ...(await take(10, 2))];
    assert.equal(taken.filter(({ endpoint }) => endpoint === 'slow/webhook').length, 2);
    assert.equal(taken.filter(({ endpoint }) => endpoint === 'other/webhook').length, 1);
    assert.equal(await worker.moveAll('slow/webhook', 60_000), 2);
    await database.transaction((query) => worker.replace(query, taken, []));
    assert.deepEqual(await take(), []);
    assert.equal(await worker.moveAll('slow/webhook', 0), 2);
    assert.equal((await take()).length, 2);
  });
});
