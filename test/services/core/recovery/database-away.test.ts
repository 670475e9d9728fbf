import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import type { Sender } from '../../../../services/core/kinds/sender.ts';
import { inquiries } from '../../../../services/core/recovery/inquire-open.ts';

describe('inquiries() without a database', () => {
  it('fail as one search: no rejection is left that would end the process', async () => {
    const unhandled: unknown[] = [];
    const heard = (reason: unknown) => void unhandled.push(reason);
    const listeners = process.rawListeners('unhandledRejection') as ((reason: unknown) => void)[];
    process.removeAllListeners('unhandledRejection');
    process.on('unhandledRejection', heard);
    const away = async () => {
      throw new Error('the database is away');
    };
    const recovery = {
      database: { query: away, transaction: away },
      clock: () => new Date(),
      processors: { timeoutMs: 1 },
    };
    try {
      await assert.rejects(async () => inquiries(recovery as unknown as Sender).find({ limit: 10, but: [] }), /away/);
      await turn();
      await turn();
    } finally {
      process.off('unhandledRejection', heard);
      for (const listener of listeners) process.on('unhandledRejection', listener);
    }
    assert.deepEqual(unhandled, []);
  });
});
