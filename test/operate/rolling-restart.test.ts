import assert from 'node:assert/strict';
import { rollingRestart } from './rolling-restart.ts';
import { assertDoneOnce } from './sell-while.ts';

describe('a rolling restart of two cores and two gateways under load', () => {
  it('loses and repeats no keyed request', async () => {
    const { restarts, ...sold } = await rollingRestart(1, 4);
    assertDoneOnce(sold);
    assert.equal(restarts, 4);
    assert(sold.tally.captures > 4);
  });
});
