import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { forSuite } from '../../../../suite.ts';
import { openStage } from '../../stage.ts';

describe('watchCredentials()', () => {
  const stage = forSuite(() => openStage());
  const gateway = forSuite(() => stage.channel('gateway').merchants);

  it('sends heartbeats also when the clock has been set back', async () => {
    const abort = new AbortController();
    const messages = gateway.watchCredentials({}, { signal: abort.signal })[Symbol.asyncIterator]();
    assert.equal((await messages.next()).value.snapshotComplete, true);
    const setBackMs = Date.now() - 3_600_000;
    mock.method(Date, 'now', () => setBackMs);
    try {
      assert.notEqual((await messages.next()).done, true);
    } finally {
      mock.restoreAll();
      abort.abort();
    }
  });
});
