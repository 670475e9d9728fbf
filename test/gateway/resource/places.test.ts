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

  it('are given back once, so that nobody frees the place of somebody else', () => {
    const exports = new ExportLimit();
    const leave = exports.open('acme');
    leave();
    exports.open('acme');
    leave();
    assert.throws(() => exports.open('acme'), { code: 'RATE_LIMITED' });
  });
});
