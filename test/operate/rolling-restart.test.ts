import assert from 'node:assert/strict';
import { rollingRestart } from './rolling-restart.ts';

describe('a rolling restart of two cores and two gateways under load', () => {
  it('loses no keyed request and does none twice', async () => {
    const tally = await rollingRestart(1, 4);
    assert.deepEqual(tally.lost, []);
    assert.deepEqual(tally.stored, tally.answered);
    assert.deepEqual(tally.atProcessor, tally.answered);
    assert.equal(tally.restarts, 4);
    assert(tally.answered.captures > 4);
  }).timeout(180_000);
});
