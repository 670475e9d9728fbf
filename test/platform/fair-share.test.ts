import assert from 'node:assert/strict';
import { FairShare } from '../../platform/fair-share.ts';

describe('FairShare', () => {
  /** Enters until it is refused. Returns how often it entered. */
  function fill(share: FairShare, owner: string): number {
    for (let count = 0; ; count++) if (share.enter(owner)) return count;
  }

  it('gives one owner half, two owners a third each, and leaves room for a third one', () => {
    const share = new FairShare(120);
    assert.equal(fill(share, 'a'), 60);
    assert.equal(share.enter('a'), 'OWNER');
    for (let i = 0; i < 20; i++) share.leave('a');
    assert.equal(fill(share, 'b'), 40);
    assert.equal(fill(share, 'a'), 0);
    assert.equal(share.inFlight, 80);
    assert.equal(share.enter('c'), undefined);
  });

  it('refuses everybody when nothing is free, until one leaves', () => {
    const share = new FairShare(2);
    assert.deepEqual([share.enter('a'), share.enter('b'), share.enter('c')], [undefined, undefined, 'TOTAL']);
    share.leave('a');
    assert.equal(share.enter('c'), undefined);
  });
});
