import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { watchCredentials } from '../../../../../services/core/rpc/merchant/watch-credentials.ts';

describe('watchCredentials()', () => {
  it('sends heartbeats also when the clock has been set back', async () => {
    const gone = new AbortController();
    let reads = 0;
    const query = async () => {
      if (++reads > 5) gone.abort();
      return [];
    };
    const messages = watchCredentials({ database: { query } } as never, {} as never, { signal: gone.signal } as never);
    await messages.next();
    const setBack = Date.now() - 3_600_000;
    const later = performance.now() + 5_000;
    try {
      const waiting = messages.next();
      mock.method(Date, 'now', () => setBack);
      mock.method(performance, 'now', () => later);
      assert.notEqual((await waiting).done, true);
    } finally {
      mock.restoreAll();
      gone.abort();
    }
  });
});
