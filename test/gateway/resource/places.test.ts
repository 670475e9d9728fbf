import assert from 'node:assert/strict';
import { ExportLimit } from '../../../gateway/resource/csv.ts';
import { Places } from '../../../gateway/resource/places.ts';

describe('Places', () => {
  it('are bounded for each key', () => {
    const places = new Places(2);
    const [first, second] = [places.take('a'), places.take('a')];
    assert(first && second);
    assert.equal(places.take('a'), undefined);
    assert(places.take('b'));
    first();
    assert(places.take('a'));
    assert.equal(places.take('a'), undefined);
  });

  it('of exports are many, and eight of them read at a time, in turns', async () => {
    const exports = new ExportLimit();
    for (let index = 0; index < 100; index++) exports.open(`merchant-${index}`);
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const reads = Array.from({ length: 20 }, (_, index) =>
      exports.inTurn(() => {
        begun.push(index);
        return new Promise<void>((resolve) => ends.push(resolve));
      }),
    );
    await new Promise(setImmediate);
    assert.equal(begun.length, 8);
    for (let done = 0; done < 20; done++) {
      ends[done]?.();
      await reads[done];
      await new Promise(setImmediate);
    }
    assert.deepEqual(
      begun,
      Array.from({ length: 20 }, (_, index) => index),
    );
  });

  it('are given back once, so that nobody frees the place of somebody else', () => {
    const exports = new ExportLimit();
    const leave = exports.open('acme');
    leave();
    exports.open('acme');
    leave();
    assert.throws(() => exports.open('acme'), { code: 'RATE_LIMITED' });
  });
});
