import assert from 'node:assert/strict';
import { validate, version } from 'uuid';
import { drawId, drawIdOf, drawnAt, inOrder } from '../../platform/draw-id.ts';

describe('drawId()', () => {
  it('draws 20 000 UUIDv7 in a row that differ, in their order, each of its time', () => {
    const from = Date.now();
    const ids = Array.from({ length: 20_000 }, drawId);
    const to = Date.now();
    for (const id of ids) assert(validate(id) && version(id) === 7, id);
    assert.deepEqual(ids, [...new Set(ids)].sort());
    const times = ids.map((id) => drawnAt(id).getTime());
    // A millisecond that runs out of counts takes those of the next ones.
    assert(Math.min(...times) >= from && Math.max(...times) <= to + 20, `${from} to ${to}`);
  });
});

describe('inOrder()', () => {
  const at = (time: number) => drawIdOf(new Date(time));

  it('follows a clock that is set back by a second, and keeps the order over one of a few milliseconds', () => {
    const times = [5_000, 4_990, 5_001, 4_000, 4_000];
    const draw = inOrder(() => at(times.shift() as number));
    const ids = [draw(), draw(), draw(), draw(), draw()];
    assert.deepEqual(
      ids.map((id) => drawnAt(id).getTime()),
      [5_000, 5_000, 5_001, 4_000, 4_000],
    );
    for (const [one, next] of [
      [0, 1],
      [1, 2],
      [3, 4],
    ] as const)
      assert((ids[one] as string) < (ids[next] as string));
  });

  it('takes the counts of the next milliseconds when those of one run out', () => {
    const draw = inOrder(() => at(5_000));
    const ids = Array.from({ length: 9_000 }, draw);
    assert.deepEqual(ids, [...new Set(ids)].sort());
    assert.equal(drawnAt(ids.at(-1) as string).getTime(), 5_002);
  });
});

describe('drawIdOf()', () => {
  it('draws different UUIDv7 of a time long past', () => {
    const time = new Date('1999-12-31T23:59:59.999Z');
    const ids = Array.from({ length: 1_000 }, () => drawIdOf(time));
    for (const id of ids) assert(validate(id) && version(id) === 7, id);
    assert.equal(new Set(ids).size, 1_000);
    assert.deepEqual(new Set(ids.map((id) => drawnAt(id).toISOString())), new Set([time.toISOString()]));
  });
});
