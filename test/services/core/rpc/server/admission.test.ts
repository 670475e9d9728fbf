import assert from 'node:assert/strict';
import { HoldfastError } from '../../../../../services/core/domain/refusal.ts';
import { Admission } from '../../../../../services/core/rpc/server/admission.ts';

describe('Admission', () => {
  /** Admits calls of a merchant until one is refused. Returns how many were admitted. */
  function fill(admission: Admission, merchant: string): number {
    for (let count = 0; ; count++) {
      try {
        admission.enter(merchant);
      } catch {
        return count;
      }
    }
  }
  const codeOf = (call: () => void) => {
    try {
      call();
    } catch (error) {
      assert(error instanceof HoldfastError);
      assert.equal(error.details.retryAfterS, 1);
      return error.code;
    }
    return 'admitted';
  };

  it('gives one merchant half of the calls, and leaves the rest to others', () => {
    const admission = new Admission(100);
    assert.equal(fill(admission, 'flood'), 50);
    assert.equal(
      codeOf(() => admission.enter('flood')),
      'RATE_LIMITED',
    );
    assert.equal(fill(admission, 'second'), 25);
    assert.equal(
      codeOf(() => admission.enter('quiet')),
      'admitted',
    );
  });

  it('refuses all when it is full', () => {
    const admission = new Admission(3);
    for (const merchant of ['a', 'b', 'c']) admission.enter(merchant);
    assert.equal(
      codeOf(() => admission.enter('d')),
      'UNAVAILABLE',
    );
    admission.leave('a');
    assert.equal(
      codeOf(() => admission.enter('d')),
      'admitted',
    );
  });

  it('counts what comes and goes', () => {
    const counts: number[] = [];
    const refused: string[] = [];
    const observer = { inFlight: (count: number) => counts.push(count), refused: (why: string) => refused.push(why) };
    const admission = new Admission(2, observer);
    admission.enter('a');
    codeOf(() => admission.enter('a'));
    admission.enter('b');
    codeOf(() => admission.enter('c'));
    admission.leave('a');
    admission.leave('b');
    assert.deepEqual(counts, [1, 2, 1, 0]);
    assert.deepEqual(refused, ['MERCHANT', 'TOTAL']);
  });
});
