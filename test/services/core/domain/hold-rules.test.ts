import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  booksOf,
  differsFromRest,
  failHold,
  type HoldBooks,
  type HoldState,
  isDueToEnd,
  isOpen,
  judgeCapture,
  judgeRelease,
  reinstate,
  reverse,
  settleCapture,
  settleRelease,
  takenBackOf,
} from '../../../../services/core/domain/hold-rules.ts';
import { leftOf } from '../../../../services/core/domain/refund-rules.ts';

/** A hold as write-holds.ts inserts it. */
function openHold(amount: bigint): HoldBooks {
  const nothing = { captured: 0n, inFlight: 0n, released: 0n, reversed: 0n, refunded: 0n, refunding: 0n };
  return { status: 'IN_PROGRESS', amount, ...nothing, remaining: amount, closing: false };
}

/** The arithmetic of the statement that reserves captures, in store-submissions.ts. */
function reserveCapture(hold: HoldState, amount: bigint, finalCapture: boolean): HoldBooks {
  const closing = finalCapture || !hold.allowMultipleCaptures;
  return { ...booksOf(hold), remaining: hold.remaining - amount, inFlight: hold.inFlight + amount, closing };
}

/** The arithmetic of the statement in reserve-release.ts. */
function reserveRelease(hold: HoldState): HoldBooks {
  return { ...booksOf(hold), remaining: 0n, inFlight: hold.remaining, closing: true };
}

const NOW = new Date('2027-01-01T00:00:00Z');
const NEVER_PLACED: HoldBooks = { ...openHold(100n), remaining: 0n };
const TERMS = { phase: 'AUTHORIZED', frozen: false, expiresAt: new Date('2027-01-08T00:00:00Z') } as const;
const several = (books: HoldBooks = openHold(100n)): HoldState => ({ ...TERMS, ...books, allowMultipleCaptures: true });
const sole = (books: HoldBooks = openHold(100n)): HoldState => ({ ...TERMS, ...books, allowMultipleCaptures: false });

describe('judgeCapture()', () => {
  const captured = settleCapture(sole(reserveCapture(sole(), 40n, false)), { amount: 40n, finalCapture: false }, true);
  const CAPABILITIES = { severalCaptures: false, increments: true, extension: true, refunds: true };
  const once = (books?: HoldBooks): HoldState => ({ ...several(books), capabilities: CAPABILITIES });
  const CASES: [name: string, hold: HoldState, amount: bigint, answer: string | undefined, final?: true][] = [
    ['what fits', several(), 100n, undefined],
    ['more than the hold', several(), 101n, 'AMOUNT_EXCEEDS_HOLD'],
    [
      'more than a hold that failed',
      { ...several(failHold(NEVER_PLACED)), phase: 'FAILED' },
      101n,
      'AMOUNT_EXCEEDS_HOLD',
    ],
    ['a hold that failed', { ...several(failHold(NEVER_PLACED)), phase: 'FAILED' }, 1n, 'HOLD_NOT_PLACED'],
    ['a hold that is being placed', { ...several(), phase: 'AUTHORIZING' }, 1n, 'HOLD_NOT_PLACED'],
    ['a hold whose time is over', { ...several(), expiresAt: NOW }, 1n, 'HOLD_EXPIRED'],
    ['a hold whose authorization expired at the processor', { ...several(), endedAs: 'EXPIRED' }, 1n, 'HOLD_EXPIRED'],
    [
      'a hold whose authorization was voided at the processor',
      { ...several(), endedAs: 'RELEASED' },
      1n,
      'HOLD_RELEASED',
    ],
    ['a hold without an end', { ...several(), expiresAt: null }, 1n, undefined],
    [
      'a released hold',
      several(
        settleRelease(several(reserveRelease(several())), { amount: 100n, reason: 'RELEASED', reported: false }, true),
      ),
      1n,
      'HOLD_RELEASED',
    ],
    [
      'an expired hold',
      several(
        settleRelease(several(reserveRelease(several())), { amount: 100n, reason: 'EXPIRED', reported: false }, true),
      ),
      1n,
      'HOLD_EXPIRED',
    ],
    ['a second capture where one is allowed', sole(captured), 1n, 'MULTIPLE_CAPTURES_NOT_ALLOWED'],
    ['a captured hold', several(captured), 1n, 'HOLD_CAPTURED'],
    ['a hold that is being released', several(reserveRelease(several())), 1n, 'CAPTURE_IN_FLIGHT'],
    ['a frozen hold', { ...several(), frozen: true }, 1n, 'HOLD_FROZEN'],
    [
      'what would fit but for a capture in flight',
      several(reserveCapture(several(), 60n, false)),
      41n,
      'CAPTURE_IN_FLIGHT',
    ],
    ['what fits beside a capture in flight', several(reserveCapture(several(), 60n, false)), 40n, undefined],
    ['a part where the processor allows one capture', once(), 40n, 'NOT_SUPPORTED'],
    ['a final part where the processor allows one capture', once(), 40n, undefined, true],
    ['all of it where the processor allows one capture', once(), 100n, undefined],
    [
      'the sole part where the processor and the contract allow one',
      { ...sole(), capabilities: CAPABILITIES },
      40n,
      undefined,
    ],
    ['a part while all of it is in flight', once(reserveCapture(once(), 100n, false)), 40n, 'NOT_SUPPORTED'],
    ['all of it while all of it is in flight', once(reserveCapture(once(), 100n, false)), 100n, 'CAPTURE_IN_FLIGHT'],
    [
      'a second capture of what was captured in part',
      once({ ...openHold(100n), status: 'PARTIALLY_CAPTURED', captured: 40n, remaining: 60n }),
      60n,
      'NOT_SUPPORTED',
      true,
    ],
  ];
  for (const [name, hold, amount, answer, finalCapture = false] of CASES) {
    it(`returns ${answer ?? 'yes'} for ${name}`, () =>
      assert.equal(judgeCapture(hold, { amount, finalCapture }, NOW), answer));
  }
});

describe('judgeRelease()', () => {
  it('releases a placed hold, and no other', () => {
    assert.equal(judgeRelease(several(), NOW), undefined);
    assert.equal(judgeRelease({ ...several(), phase: 'UNKNOWN' }, NOW), 'HOLD_NOT_PLACED');
    assert.equal(judgeRelease({ ...several(), expiresAt: NOW }, NOW), 'HOLD_EXPIRED');
    assert.equal(judgeRelease({ ...several(), frozen: true }, NOW), 'HOLD_FROZEN');
    assert.equal(judgeRelease(several(reserveCapture(several(), 1n, false)), NOW), 'CAPTURE_IN_FLIGHT');
  });
});

describe('settleCapture()', () => {
  const settle = (hold: HoldState, amount: bigint, gaveBack: boolean, ok = true) =>
    settleCapture(hold, { amount, finalCapture: false, gaveBack }, ok);

  it('closes the hold with a capture after which the processor released the rest on its own', () => {
    const { status, remaining, released } = settle(several(reserveCapture(several(), 40n, false)), 40n, true);
    assert.deepEqual([status, remaining, released], ['CAPTURED', 0n, 60n]);
    const open = settle(several(reserveCapture(several(), 40n, false)), 40n, false);
    assert.deepEqual([open.status, open.remaining, open.released], ['PARTIALLY_CAPTURED', 60n, 0n]);
  });

  it('leaves the hold closing while a final capture is in flight', () => {
    const first = several(reserveCapture(several(), 40n, false));
    const both = several(reserveCapture(first, 10n, true));
    const { status, closing, inFlight, released } = settle(both, 40n, true);
    assert.deepEqual([status, closing, inFlight, released], ['CAPTURED', true, 10n, 50n]);
  });
});

describe('isDueToEnd()', () => {
  it('ends a hold that has expired or ended at the processor, and none with an amount in flight', () => {
    const over = { ...several(), expiresAt: NOW };
    const ended = { ...several(), endedAs: 'RELEASED' } as const;
    const reasons = (hold: HoldState) =>
      (['RELEASED', 'EXPIRED'] as const).filter((reason) => isDueToEnd(hold, reason, NOW));
    assert.deepEqual(reasons(several()), []);
    assert.deepEqual(reasons(over), ['EXPIRED']);
    assert.deepEqual(reasons(ended), ['RELEASED']);
    assert.deepEqual(reasons({ ...over, endedAs: 'RELEASED' }), ['RELEASED']);
    assert.deepEqual(reasons({ ...ended, endedAs: 'EXPIRED' }), ['EXPIRED']);
    assert.deepEqual(reasons({ ...ended, ...reserveCapture(ended, 1n, false) }), []);
    assert.deepEqual(reasons({ ...ended, ...failHold(NEVER_PLACED), phase: 'FAILED' }), []);
  });
});

describe('a reversal by the card scheme', () => {
  const hold = { ...openHold(100n), captured: 90n, remaining: 10n };
  const capture = { amount: 40n, amountReversed: 15n };
  const marked = { amount: 30n, amountReversed: 30n };

  it('never exceeds its capture, nor all reversals all captures', () => {
    assert.equal(leftOf({ ...hold, reversed: 45n }, capture), 25n);
    assert.equal(leftOf({ ...hold, reversed: 80n }, capture), 10n);
    assert.equal(leftOf({ ...hold, reversed: 45n }, marked), 0n);
    assert.equal(leftOf({ ...hold, reversed: 45n }, undefined), 45n);
  });

  it('is reinstated up to what was reversed: of the capture, or of the hold when none is named', () => {
    const reversed = { ...hold, reversed: 52n };
    assert.equal(takenBackOf(reversed, capture, [capture, marked]), 15n);
    assert.equal(takenBackOf(reversed, marked, [capture, marked]), 30n);
    assert.equal(takenBackOf(reversed, undefined, [capture, marked]), 7n);
    assert.equal(reinstate(reverse(hold, 40n), 30n).reversed, 10n);
  });
});

describe('settleRelease()', () => {
  const released = (reason: 'RELEASED' | 'EXPIRED', givenBack: bigint | undefined, reported = false) => {
    const {
      status,
      remaining,
      released: given,
    } = settleRelease(several(reserveRelease(several())), { amount: 100n, reason, reported, givenBack }, true);
    return [status, remaining, given];
  };

  it('books what the void released', () => {
    assert.deepEqual(released('RELEASED', undefined), ['RELEASED', 0n, 100n]);
    assert.deepEqual(released('RELEASED', 100n), ['RELEASED', 0n, 100n]);
    assert.deepEqual(released('RELEASED', 40n), ['IN_PROGRESS', 60n, 40n]);
    assert.deepEqual(released('RELEASED', 0n), ['IN_PROGRESS', 100n, 0n]);
    assert.deepEqual(released('RELEASED', 101n), ['RELEASED', 0n, 100n]);
  });

  it('ends the hold as expired or released, whatever amount was released', () => {
    for (const givenBack of [undefined, 0n, 40n, 100n, 101n]) {
      assert.deepEqual(released('EXPIRED', givenBack), ['EXPIRED', 0n, 100n]);
      assert.deepEqual(released('EXPIRED', givenBack, true), ['EXPIRED', 0n, 100n]);
      assert.deepEqual(released('RELEASED', givenBack, true), ['RELEASED', 0n, 100n]);
    }
  });

  it('notices an amount that differs from our books', () => {
    const reserved = { amount: 100n, reason: 'RELEASED', reported: false } as const;
    const differs = [undefined, 99n, 100n, 101n].map((givenBack) =>
      differsFromRest(reserveRelease(several()), { ...reserved, givenBack }),
    );
    assert.deepEqual(differs, [false, true, false, true]);
  });
});

describe('the arithmetic of holds', () => {
  it('throws when it settles what was not reserved', () => {
    assert.throws(() => settleCapture(several(), { amount: 1n, finalCapture: false }, true));
    assert.throws(() => settleRelease(several(), { amount: 1n, reason: 'RELEASED', reported: false }, true));
    assert.throws(() => reverse(openHold(100n), 1n));
    assert.throws(() => reinstate(openHold(100n), 1n));
    assert.throws(() => failHold(reserveCapture(several(), 1n, false)));
  });

  it('balances after any commands and any answers, and a closed hold stays closed', () => {
    const command = fc.record({
      do: fc.constantFrom('capture', 'final', 'release', 'expire', 'ok', 'ko', 'reverse'),
      amount: fc.bigInt({ min: 1n, max: 60n }),
      which: fc.nat(),
    });
    fc.assert(
      fc.property(fc.boolean(), fc.array(command, { maxLength: 40 }), (allowMultipleCaptures, commands) => {
        const model = new Model(allowMultipleCaptures);
        for (const each of commands) model.play(each.do, each.amount, each.which);
        model.settleAll();
      }),
      { numRuns: 500 },
    );
  });
});

interface Pending {
  readonly kind: 'CAPTURE' | 'RELEASED' | 'EXPIRED';
  readonly amount: bigint;
  readonly finalCapture: boolean;
}

/** A hold with its attempts, whose sums are kept separately and compared after each step. */
class Model {
  hold: HoldState;
  pending: Pending[] = [];
  captured: bigint[] = [];
  reversed = 0n;

  constructor(allowMultipleCaptures: boolean) {
    this.hold = { ...several(), allowMultipleCaptures };
  }

  play(what: string, amount: bigint, which: number): void {
    if (what === 'capture' || what === 'final') this.capture(amount, what === 'final');
    else if (what === 'release' || what === 'expire') this.release(what === 'release' ? 'RELEASED' : 'EXPIRED');
    else if (what === 'reverse') this.reverse();
    else if (this.pending.length > 0) this.settle(which % this.pending.length, what === 'ok');
    this.check();
  }

  settleAll(): void {
    while (this.pending.length > 0) this.settle(0, false);
    assert.equal(this.hold.inFlight, 0n);
    assert.equal(this.hold.closing, false);
  }

  private capture(amount: bigint, finalCapture: boolean): void {
    if (judgeCapture(this.hold, { amount, finalCapture }, NOW)) return;
    this.become(reserveCapture(this.hold, amount, finalCapture));
    this.pending.push({ kind: 'CAPTURE', amount, finalCapture });
  }

  private release(kind: 'RELEASED' | 'EXPIRED'): void {
    const later = new Date('2028-01-01T00:00:00Z');
    const due = kind === 'RELEASED' ? !judgeRelease(this.hold, NOW) : isDueToEnd(this.hold, 'EXPIRED', later);
    if (!due) return;
    this.pending.push({ kind, amount: this.hold.remaining, finalCapture: false });
    this.become(reserveRelease(this.hold));
  }

  private reverse(): void {
    const amount = this.captured.pop();
    if (amount === undefined) return;
    this.reversed += amount;
    this.become(reverse(this.hold, amount));
  }

  private settle(index: number, ok: boolean): void {
    const [attempt] = this.pending.splice(index, 1);
    if (!attempt) return;
    const wasOpen = isOpen(this.hold);
    if (attempt.kind === 'CAPTURE') this.become(settleCapture(this.hold, attempt, ok));
    else this.become(settleRelease(this.hold, { amount: attempt.amount, reason: attempt.kind, reported: false }, ok));
    if (ok && attempt.kind === 'CAPTURE') this.captured.push(attempt.amount);
    assert(wasOpen || !isOpen(this.hold), 'a closed hold stays closed');
  }

  private become(books: HoldBooks): void {
    this.hold = { ...this.hold, ...books };
  }

  private check(): void {
    const { amount, captured, inFlight, remaining, released, status, reversed } = this.hold;
    const sum = (amounts: readonly bigint[]) => amounts.reduce((total, each) => total + each, 0n);
    assert.equal(amount, captured + inFlight + remaining + released);
    assert.equal(captured, sum(this.captured) + this.reversed);
    assert.equal(reversed, this.reversed);
    assert.equal(inFlight, sum(this.pending.map((each) => each.amount)));
    assert(isOpen(this.hold) || remaining === 0n, 'nothing remains of a closed hold');
    assert(!isOpen(this.hold) || released === 0n, 'nothing is released of an open hold');
    assert((status === 'IN_PROGRESS') === (isOpen(this.hold) && captured === 0n));
    assert(status !== 'CAPTURED' || captured > 0n);
    assert(!['RELEASED', 'EXPIRED'].includes(status) || captured === 0n);
  }
}
