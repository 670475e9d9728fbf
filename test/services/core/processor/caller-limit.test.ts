import assert from 'node:assert/strict';
import { limitCallers } from '../../../../services/core/processor/caller-limit.ts';

describe('limitCallers()', () => {
  const never = () => new Promise<never>(() => undefined);

  it('allows a number of waiting callers, and another one when a call has its answer', async () => {
    const limit = limitCallers(2);
    const answer = Promise.withResolvers<string>();
    const first = limit.run('a', () => answer.promise);
    void limit.run('b', never);
    assert.deepEqual([limit.waiting, limit.hasRoom('c')], [2, false]);
    answer.resolve('yes');
    assert.equal(await first, 'yes');
    assert.deepEqual([limit.waiting, limit.hasRoom('c')], [1, true]);
  });

  it('leaves room for others when the calls of one merchant get no answer', () => {
    const limit = limitCallers(16);
    while (limit.hasRoom('a')) void limit.run('a', never);
    assert.deepEqual([limit.waiting, limit.hasRoom('b')], [14, true]);
    let begun = 0;
    for (let call = 0; call < 100; call++) {
      const run = () => {
        begun++;
        return never();
      };
      assert.equal(limit.runOrDetach('a', run), undefined);
    }
    assert.equal(begun, 56, 'seven eighths of four times as many');
  });

  it('gives what a merchant frees to another one that comes meanwhile', async () => {
    const limit = limitCallers(16);
    const ends: (() => void)[] = [];
    const call = () => new Promise<void>((resolve) => ends.push(resolve));
    while (limit.hasRoom('a')) void limit.run('a', call);
    for (let round = 0; round < 6; round++) {
      while (limit.hasRoom('b')) void limit.run('b', never);
      ends.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
      assert.deepEqual([limit.hasRoom('a'), limit.hasRoom('b')], [false, true]);
    }
    assert.deepEqual([limit.waiting, limit.hasRoom('c')], [14, true]);
  });

  it('frees the slot of a call that fails', async () => {
    const limit = limitCallers(1);
    await assert.rejects(
      limit.run('a', () => Promise.reject(new Error('no'))),
      /no/,
    );
    assert.equal(limit.hasRoom('a'), true);
  });

  it('lets a call continue without its caller when no slot is free, at most four times as many', async () => {
    const limit = limitCallers(1);
    void limit.run('a', never);
    const begun: Promise<string>[] = [];
    const ends = Array.from({ length: 5 }, () => Promise.withResolvers<string>());
    const run = (index: number) =>
      limit.runOrDetach(`m${index}`, () => {
        const { promise } = ends[index] as (typeof ends)[number];
        begun.push(promise);
        return promise;
      });
    for (let index = 0; index < 5; index++) assert.equal(run(index), undefined);
    assert.equal(begun.length, 4, 'the fifth is left to recovery');
    ends[0]?.reject(new Error('refused'));
    await begun[0]?.catch(() => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(run(4), undefined);
    assert.equal(begun.length, 5, 'one call has ended');
  });

  it('lets a caller wait while a slot is free', async () => {
    assert.equal(await limitCallers(1).runOrDetach('a', async () => 'yes'), 'yes');
  });
});
