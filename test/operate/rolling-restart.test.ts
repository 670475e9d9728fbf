import assert from 'node:assert/strict';
import { rollingRestart } from './rolling-restart.ts';

describe('a rolling restart of two cores and two gateways under load', () => {
  it('loses and repeats no keyed request', async () => {
    const { restarts, tally, stored, atProcessor } = await rollingRestart(1, 4);
    const { holds, captures, neverDone, lost } = tally;
    assert.deepEqual([lost, neverDone], [[], 0]);
    assert.deepEqual(stored, { holds, captures });
    assert.deepEqual(atProcessor, { holds, captures });
    assert.equal(restarts, 4);
    assert(captures > 4);
  }).timeout(180_000);
});
