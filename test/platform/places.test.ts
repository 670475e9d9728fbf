import assert from 'node:assert/strict';
import { type Place, Places } from '../../platform/places.ts';
import { collected } from '../collected.ts';

describe('Places', () => {
  /** Takes places until there is none. Returns those that it took. */
  function fill(places: Places, key: string): Place[] {
    const taken: Place[] = [];
    for (;;) {
      const place = places.take(key);
      if (typeof place === 'string') return taken;
      taken.push(place);
    }
  }

  it('are bounded in all, and for each key', () => {
    const places = new Places({ total: 5, perKey: 2 });
    for (const key of ['a', 'b', 'c']) fill(places, key);
    assert.deepEqual(
      ['a', 'b', 'c'].map((key) => places.takenBy(key)),
      [2, 2, 1],
    );
    assert.deepEqual([places.taken, places.take('a'), places.take('d')], [5, 'TOTAL', 'TOTAL']);
    assert.equal(new Places({ perKey: 0 }).take('a'), 'KEY');
  });

  it('are all for a key alone when it need not share', () => {
    assert.equal(fill(new Places({ total: 100 }), 'a').length, 100);
  });

  for (const [share, alone, ofTwo] of [
    [1, 60, 40],
    [7, 105, 56],
  ] as const) {
    it(`are shared: ${alone} of 120 to a key alone, ${ofTwo} to each of two that take all they may`, () => {
      const places = new Places({ total: 120, share });
      const first = fill(places, 'a');
      assert.equal(first.length, alone);
      assert.equal(places.take('a'), 'KEY');
      // The one that came later takes what the first one gives back, which must not take it again.
      let second = fill(places, 'b').length;
      for (let moves = 0; moves < 120 && places.takenBy('a') > ofTwo; moves++) {
        first.pop()?.leave();
        second += fill(places, 'b').length;
        assert.equal(places.take('a'), 'KEY');
      }
      assert.deepEqual([first.length, second], [ofTwo, ofTwo]);
      assert.notEqual(typeof places.take('c'), 'string', 'another one still finds a place');
    });
  }

  it('leave one for another key, however few they are', () => {
    for (const share of [1, 7])
      for (let total = 2; total < 20; total++) {
        const places = new Places({ total, share });
        fill(places, 'a');
        assert.notEqual(typeof places.take('b'), 'string', `${total} places`);
      }
    assert.equal(fill(new Places({ total: 1, share: 1 }), 'a').length, 1);
    assert.equal(fill(new Places({ total: 0, share: 1 }), 'a').length, 0);
  });

  it('are given back once, so that nobody frees the place of somebody else', () => {
    const places = new Places({ perKey: 1 });
    const [first] = fill(places, 'a');
    first?.leave();
    fill(places, 'a');
    first?.leave();
    assert.deepEqual([places.taken, places.take('a')], [1, 'KEY']);
  });

  it('are given back at the end of a block, also by an exception', () => {
    const places = new Places({ total: 1 });
    assert.throws(() => {
      using place = places.take('a') as Place;
      assert(place);
      throw new Error('a bug');
    }, /a bug/);
    assert.equal(places.taken, 0);
  });

  it('may be taken above the bounds, and count then', () => {
    const places = new Places({ total: 2, perKey: 1 });
    const [first] = fill(places, 'a');
    const above = places.takeAnyway('a');
    assert.deepEqual([places.takenBy('a'), places.take('b')], [2, 'TOTAL']);
    first?.leave();
    assert.equal(places.take('a'), 'KEY');
    above.leave();
    assert.notEqual(typeof places.take('a'), 'string');
  });

  it('tell when one is given back', () => {
    const places = new Places({ total: 2 });
    const left: string[] = [];
    places.onLeave((key) => left.push(`${key}, ${places.taken}`));
    const [first, second] = [places.take('a') as Place, places.take('b') as Place];
    first.leave();
    first.leave();
    second.leave();
    assert.deepEqual(left, ['a, 1', 'b, 0']);
  });

  it('keep nothing of a key that has none', async () => {
    const keys = Array.from({ length: 1_000 }, () => new WeakRef({}));
    const places = new Places<object>({ total: 10 });
    for (const key of keys) (places.take(key.deref() as object) as Place).leave();
    await collected(keys);
    assert.equal(places.taken, 0);
  });
});
