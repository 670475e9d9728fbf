import assert from 'node:assert/strict';
import { openBreaker } from '../../../../services/core/processor/processor-breaker.ts';

describe('openBreaker()', () => {
  let nowMs = 0;
  /** A breaker after an answer to each merchant, and then as many calls of each without one, over some time. */
  function silentAfter(calls: Record<string, number>, overMs: number) {
    nowMs = 0;
    const breaker = openBreaker(5_000, () => nowMs);
    for (const merchant of Object.keys(calls)) breaker.record(merchant, true);
    for (const [merchant, count] of Object.entries(calls)) {
      for (let call = 0; call < count; call++) breaker.record(merchant, false);
    }
    nowMs += overMs;
    return breaker;
  }
  const admitted = (breaker: ReturnType<typeof silentAfter>, merchant: string, times = 3) =>
    Array.from({ length: times }, () => breaker.admits(merchant));

  it('allows calls while they are answered, and while only a few are not', () => {
    assert.equal(openBreaker(5_000).admits('a'), true);
    assert.equal(silentAfter({ a: 9 }, 60_000).admits('a'), true);
    assert.equal(silentAfter({ a: 1_000 }, 4_999).admits('a'), true, 'an answer arrived a moment ago');
  });

  it('allows a merchant one call a second when none of its is answered, and others all of theirs', () => {
    const breaker = silentAfter({ a: 1_000, quiet: 0 }, 5_000);
    assert.equal(breaker.isClosed(), true);
    assert.deepEqual(admitted(breaker, 'a'), [true, false, false]);
    nowMs += 999;
    assert.equal(breaker.admits('a'), false);
    nowMs += 1;
    assert.deepEqual(admitted(breaker, 'a'), [true, false, false]);
    assert.deepEqual(admitted(breaker, 'quiet'), [true, true, true]);
    assert.deepEqual(admitted(breaker, 'new'), [true, true, true]);
    breaker.record('a', true);
    assert.deepEqual(admitted(breaker, 'a'), [true, true, true]);
  });

  it('allows one call a second of all when none of several is answered', () => {
    for (const calls of [
      { a: 5, b: 5 },
      { a: 1_000, b: 4, c: 1 },
    ]) {
      const breaker = silentAfter(calls, 5_000);
      assert.equal(breaker.isClosed(), false);
      assert.deepEqual([...admitted(breaker, 'a', 2), ...admitted(breaker, 'new')], [true, false, false, false, false]);
      breaker.record('new', true);
      assert.deepEqual([breaker.isClosed(), breaker.admits('new')], [true, true]);
    }
    assert.equal(silentAfter({ a: 1_000, b: 4 }, 60_000).isClosed(), true);
  });

  it('counts the time of a call without an answer', () => {
    const breaker = silentAfter({ a: 0, b: 0 }, 5_000);
    for (let call = 0; call < 10; call++) breaker.record('a', false, 5_000);
    assert.deepEqual(admitted(breaker, 'a', 2), [true, false]);
  });

  it('counts anew after each answer to somebody', () => {
    const breaker = silentAfter({ a: 1_000, b: 4 }, 5_000);
    breaker.record('c', true);
    for (let call = 0; call < 4; call++) breaker.record('b', false);
    breaker.record('a', false);
    nowMs += 5_000;
    assert.equal(breaker.isClosed(), true);
    assert.deepEqual([breaker.admits('a'), breaker.admits('a')], [true, false], 'a has had none for long');
  });

  it('says that nothing is answered when the only merchant has no answer', () => {
    const breaker = silentAfter({ a: 10 }, 5_000);
    assert.equal(breaker.isClosed(), false);
    breaker.record('b', true);
    assert.equal(breaker.isClosed(), true);
  });

  it('takes a processor that does not say how it is for away, the second time, until it does', () => {
    const breaker = silentAfter({ a: 0 }, 0);
    breaker.recordAsked(false);
    assert.equal(breaker.isClosed(), true);
    breaker.recordAsked(false);
    assert.equal(breaker.isClosed(), false);
    assert.deepEqual(admitted(breaker, 'a'), [true, false, false]);
    breaker.recordAsked(true);
    assert.deepEqual(admitted(breaker, 'a'), [true, true, true]);
    const silent = silentAfter({ a: 5, b: 5 }, 5_000);
    silent.recordAsked(true);
    assert.equal(silent.isClosed(), false, 'calls about money are not answered');
  });

  it('is silent for as long as nothing was answered, neither a call nor how it is', () => {
    const breaker = silentAfter({ a: 1 }, 5_000);
    assert.equal(breaker.isSilent(5_000), true);
    breaker.recordAsked(false);
    assert.equal(breaker.isSilent(5_000), true);
    breaker.recordAsked(true);
    assert.equal(breaker.isSilent(1), false);
    nowMs += 5_000;
    breaker.record('a', true);
    assert.equal(breaker.isSilent(1), false);
  });

  it('remembers a bounded number of merchants', () => {
    nowMs = 0;
    const breaker = openBreaker(5_000, () => nowMs);
    for (let merchant = 0; merchant <= 1_000; merchant++) {
      breaker.record('answered', true);
      for (let call = 0; call < 10; call++) breaker.record(`m${merchant}`, false);
    }
    breaker.record('answered', true);
    nowMs = 5_000;
    assert.deepEqual(admitted(breaker, 'm0', 2), [true, true]);
    assert.deepEqual(admitted(breaker, 'm1', 2), [true, false]);
  });
});
