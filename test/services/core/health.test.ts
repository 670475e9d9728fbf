import assert from 'node:assert/strict';
import { openLog } from '../../../proto/log.ts';
import { watchHealth } from '../../../services/core/health.ts';

const log = openLog('test', 'silent');

describe('watchHealth()', () => {
  it('serves only while the database answers, and never again once it drains', async () => {
    let away: Error | undefined;
    const looks = { due: Promise.withResolvers<void>() };
    const query = async () => {
      looks.due.resolve();
      if (away) throw away;
      return [];
    };
    const health = await watchHealth({ database: { query }, log, services: ['a.B'], intervalMs: 1 });
    const looked = async () => {
      for (let times = 0; times < 2; times++) {
        looks.due = Promise.withResolvers();
        await looks.due.promise;
      }
    };
    assert.equal(health.isServing(), true);
    away = new Error('connection refused');
    await looked();
    assert.equal(health.isServing(), false);
    away = undefined;
    await looked();
    assert.equal(health.isServing(), true);
    health.drain();
    await looked();
    assert.equal(health.isServing(), false);
    await health.close();
  });
});
