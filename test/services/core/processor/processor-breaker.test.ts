import assert from 'node:assert/strict';
import { openBreaker } from '../../../../services/core/processor/processor-breaker.ts';

describe('openBreaker()', () => {
  let nowMs = 0;
  const breaker = (silentCalls: number, silentMs: number) => {
    nowMs = 0;
    const opened = openBreaker(5_000, () => nowMs);
    opened.record(true);
    nowMs = silentMs;
    for (let call = 0; call < silentCalls; call++) opened.record(false);
    return opened;
  };

  it('allows calls while they are answered, and while only a few are not', () => {
    assert.equal(openBreaker(5_000).admits(), true);
    assert.equal(breaker(9, 60_000).admits(), true);
    assert.equal(breaker(1_000, 4_999).admits(), true, 'an answer arrived a moment ago');
  });

  it('allows one call a second when none is answered', () => {
    const opened = breaker(10, 5_000);
    assert.equal(opened.isClosed(), false);
    const admitted = Array.from({ length: 5 }, () => opened.admits());
    assert.deepEqual(admitted, [true, false, false, false, false]);
    nowMs += 999;
    assert.equal(opened.admits(), false);
    nowMs += 1;
    assert.deepEqual([opened.admits(), opened.admits()], [true, false]);
  });

  it('allows all calls again after any answer', () => {
    const opened = breaker(1_000, 60_000);
    opened.record(true);
    assert.deepEqual([opened.isClosed(), opened.admits(), opened.admits()], [true, true, true]);
  });
});
