import assert from 'node:assert/strict';
import { StatementGather } from '../../../../services/core/storage/statement-gather.ts';

describe('StatementGather', () => {
  /** Submits three together, of which the statement refuses one with a code. */
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
    assert.deepEqual(await endsWith('57P01'), ['57P01', '57P01', '57P01']);
  });
});
