import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { followLog, HEARTBEAT_MS } from '../../../../../services/core/rpc/operation/follow-log.ts';

describe('followLog()', () => {
  it('shows its position as often when the clock has been set back', async () => {
    const stop = new AbortController();
    const waitedMs: number[] = [];
    const from = { merchantId: undefined, resumeToken: '' };
    const setBackMs = Date.now() - 3_600_000;
    const feed = {
      last: async () => ({ sequence: 0n, mark: '' }),
      after: async (position: object) => ({ rows: [], position }),
      async changed(_: AbortSignal, timeoutMs: number) {
        waitedMs.push(timeoutMs);
        if (waitedMs.length === 2) stop.abort();
        if (waitedMs.length === 1) mock.method(Date, 'now', () => setBackMs);
      },
    };
    try {
      for await (const { rows } of followLog({} as never, feed as never, from, stop.signal)) {
        assert.deepEqual(rows, []);
      }
    } finally {
      mock.restoreAll();
    }
    assert(
      waitedMs.every((ms) => ms <= HEARTBEAT_MS),
      `it waits for ${waitedMs}`,
    );
  });
});
