import assert from 'node:assert/strict';
import { openLog } from '../../platform/log.ts';
import { runPeriodically } from '../../platform/periodic-job.ts';

describe('runPeriodically()', () => {
  const log = openLog('test', 'silent');

  it('runs at once and repeatedly, one run at a time, whatever a run throws, until it is closed', async () => {
    let running = 0;
    let runs = 0;
    const third = Promise.withResolvers<void>();
    const job = {
      name: 'test',
      intervalMs: 1,
      async runOnce() {
        assert.equal(running++, 0);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        if (++runs === 3) third.resolve();
        throw new Error('not this time');
      },
    };
    const repetition = runPeriodically(job, log);
    await third.promise;
    await repetition.close();
    assert.equal(running, 0);
    assert(runs >= 3);
  });

  it('closes without waiting for the next run', async () => {
    const now = new Date(0);
    const started: Date[] = [];
    const runOnce = async (at: Date) => void started.push(at);
    await runPeriodically({ name: 'test', intervalMs: 3_600_000, runOnce }, log, () => now).close();
    assert.deepEqual(started, [now]);
  });

  it('runs when it is woken, once more when it is already running, and by runOnce()', async () => {
    let runs = 0;
    let ended = Promise.withResolvers<void>();
    const runOnce = async () => {
      runs += 1;
      await ended.promise;
    };
    const job = { name: 'test', intervalMs: 3_600_000, runOnce };
    const running = runPeriodically(job, log);
    while (runs === 0) await new Promise((resolve) => setImmediate(resolve));
    running.wake();
    running.wake();
    const next = async () => {
      const [last, before] = [ended, runs];
      ended = Promise.withResolvers();
      last.resolve();
      while (runs === before) await new Promise((resolve) => setTimeout(resolve, 1));
    };
    await next();
    assert.equal(runs, 2, 'all that came while it ran is one more run');
    ended.resolve();
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(runs, 2);
    running.wake();
    await running.runOnce();
    assert.equal(runs, 4);
    await running.close();
    running.wake();
    await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(runs, 4, 'none after it is closed');
  });
});
