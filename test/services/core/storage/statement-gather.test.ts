import assert from 'node:assert/strict';
import { ResultLost } from '../../../../platform/gather.ts';
import { StatementGather } from '../../../../services/core/storage/statement-gather.ts';

describe('StatementGather', () => {
  /** Submits three commands together, of which the statement rejects one with an error code. */
  async function endsWith(code: string) {
    const run = async (commands: readonly string[]) => {
      if (commands.includes('bad')) throw Object.assign(new Error(code), { code });
      return commands.map((each) => `${each}!`);
    };
    const gather = new StatementGather(run, { maxBatch: 10, lanes: 1 });
    const ends = await Promise.allSettled(['a', 'bad', 'b'].map((each) => gather.submit(each)));
    return ends.map((end) => (end.status === 'fulfilled' ? end.value : end.reason.code));
  }

  for (const code of ['22003', '23514', '40P01', '40001', 'ERR_ASSERTION']) {
    it(`repeats a statement row by row after ${code}`, async () => {
      assert.deepEqual(await endsWith(code), ['a!', code, 'b!']);
    });
  }

  it('fails all of a statement when the database is at fault', async () => {
    assert.deepEqual(await endsWith('53300'), ['53300', '53300', '53300']);
  });

  for (const code of ['57P01', 'ECONNRESET', '08006']) {
    it(`sends a statement again after ${code}, and reports an unknown outcome when its deadline passes`, async () => {
      let runs = 0;
      const gather = new StatementGather<string, string>(
        async () => {
          runs++;
          throw Object.assign(new Error(code), { code });
        },
        { maxBatch: 10, lanes: 1, maxWaitMs: 1_000 },
      );
      await assert.rejects(gather.submit('a'), ResultLost);
      assert(runs > 1);
    });
  }
});
