import assert from 'node:assert/strict';
import { runEach } from '../../../../services/core/scheduling/work-loop.ts';

describe('runEach()', () => {
  const run = (failing: readonly number[]) => {
    const done: number[] = [];
    const all = runEach([1, 2, 3, 4], async (item) => {
      if (failing.includes(item)) throw new Error(`no ${item}`);
      done.push(item);
    });
    return { done, all };
  };

  it('gives each item its turn, whatever happens to another', async () => {
    const { done, all } = run([1]);
    await assert.rejects(all, { message: 'no 1' });
    assert.deepEqual(done, [2, 3, 4]);
    await run([]).all;
  });

  it('returns how many failed', async () => {
    const { done, all } = run([2, 4]);
    await assert.rejects(all, ({ message, errors }: AggregateError) => {
      assert.equal(message, '2 of 4 failed');
      assert.equal(errors.length, 2);
      return true;
    });
    assert.deepEqual(done, [1, 3]);
  });
});
