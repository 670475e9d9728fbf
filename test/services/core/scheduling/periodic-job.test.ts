import assert from 'node:assert/strict';
import { openLog } from '../../../../platform/log.ts';
import { runPeriodically } from '../../../../services/core/scheduling/periodic-job.ts';

describe('runPeriodically()', () => {
  const log = openLog('test', 'silent');

  it('runs at once and again, one run at a time, whatever a run throws, until it is closed', async () => {
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

  it('is closed without waiting for the next run', async () => {
    const now = new Date(0);
    const started: Date[] = [];
    const runOnce = async (at: Date) => void started.push(at);
    await runPeriodically({ name: 'test', intervalMs: 3_600_000, runOnce }, log, () => now).close();
    assert.deepEqual(started, [now]);
  });
});
