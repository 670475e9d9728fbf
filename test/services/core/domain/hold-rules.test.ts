import assert from 'node:assert/strict';
import {
  judgeAutoCapture,
  judgeCapture,
  leftByCapture,
  settleCapture,
} from '../../../../services/core/domain/capture-rules.ts';
import { compareAmount } from '../../../../services/core/domain/contradiction.ts';
import {
  booksOf,
  failHold,
  type HoldBooks,
  type HoldState,
  isDueToEnd,
} from '../../../../services/core/domain/hold-rules.ts';
import { leftOf } from '../../../../services/core/domain/refund-rules.ts';
import { judgeRelease, leftByRelease, settleRelease } from '../../../../services/core/domain/release-rules.ts';
import { reinstate, reverse, reversibleOf, takenBackOf } from '../../../../services/core/domain/reversal-rules.ts';
import { NEVER_PLACED, NOW, openHold, reserveCapture, reserveRelease, several, sole, TERMS } from './holds.ts';

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
    ['a hold without an end', { ...several(), expiresAt: null, releaseAt: null }, 1n, undefined],
    ['a hold whose chosen end has come', { ...several(), releaseAt: NOW }, 1n, 'HOLD_EXPIRED'],
    ['a hold whose chosen end is to come', { ...several(), releaseAt: TERMS.expiresAt }, 1n, undefined],
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
    [
      'a second capture of an expired hold where one is allowed',
      sole({ ...captured, releaseReason: 'EXPIRED' }),
      1n,
      'HOLD_EXPIRED',
    ],
    ['a captured hold', several(captured), 1n, 'HOLD_CAPTURED'],
    [
      'one whose authorization ended beside its last capture',
      { ...several(captured), endedAs: 'EXPIRED' },
      1n,
      'HOLD_CAPTURED',
    ],
    ['a hold that is being released', several(reserveRelease(several())), 1n, 'CAPTURE_IN_FLIGHT'],
    ['what a final capture in flight leaves', several(reserveCapture(several(), 40n, true)), 1n, 'CAPTURE_IN_FLIGHT'],
    ['a part beside an increment in flight', { ...several(), changing: 'INCREMENT' }, 40n, undefined],
    ['a final part beside an increment', { ...several(), changing: 'INCREMENT' }, 40n, 'CAPTURE_IN_FLIGHT', true],
    ['the sole part beside an increment', { ...sole(), changing: 'INCREMENT' }, 40n, 'CAPTURE_IN_FLIGHT'],
    ['all that can be captured once beside one', { ...once(), changing: 'INCREMENT' }, 100n, 'CAPTURE_IN_FLIGHT'],
    ['a frozen hold', { ...several(), frozen: true }, 1n, 'HOLD_FROZEN'],
    [
      'what would fit but for a capture in flight',
      several(reserveCapture(several(), 60n, false)),
      41n,
      'CAPTURE_IN_FLIGHT',
    ],
    [
      'what would not fit even if the capture in flight failed',
      several({ ...openHold(100n), status: 'PARTIALLY_CAPTURED', captured: 40n, inFlight: 40n, remaining: 20n }),
      61n,
      'AMOUNT_EXCEEDS_HOLD',
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
    assert.equal(judgeRelease({ ...several(), closing: true }, NOW), 'CAPTURE_IN_FLIGHT');
    assert.equal(judgeRelease({ ...several(), changing: 'INCREMENT' }, NOW), 'CAPTURE_IN_FLIGHT');
    assert.equal(judgeRelease({ ...several(), changing: 'EXTENSION' }, NOW), undefined);
  });
});

describe('settleCapture()', () => {
  const settle = (hold: HoldState, amount: bigint, givenBack: bigint | undefined, ok = true) =>
    settleCapture(hold, { amount, finalCapture: false, givenBack }, ok);

  it('closes the hold with a capture after which the processor released the rest on its own', () => {
    const { status, remaining, released } = settle(several(reserveCapture(several(), 40n, false)), 40n, 60n);
    assert.deepEqual([status, remaining, released], ['CAPTURED', 0n, 60n]);
    const open = settle(several(reserveCapture(several(), 40n, false)), 40n, undefined);
    assert.deepEqual([open.status, open.remaining, open.released], ['PARTIALLY_CAPTURED', 60n, 0n]);
  });

  it('keeps what a capture should have released and did not, final or not', () => {
    const end = ({ status, remaining, released }: HoldBooks) => [status, remaining, released];
    for (const finalCapture of [true, false]) {
      const reserved = several(reserveCapture(several(), 40n, finalCapture));
      const books = (givenBack: bigint) => settleCapture(reserved, { amount: 40n, finalCapture, givenBack }, true);
      assert.deepEqual(end(books(10n)), ['PARTIALLY_CAPTURED', 50n, 10n]);
      assert.deepEqual(end(books(60n)), ['CAPTURED', 0n, 60n]);
      assert.deepEqual(end(books(61n)), ['CAPTURED', 0n, 60n]);
      assert.deepEqual(end(books(0n)), ['PARTIALLY_CAPTURED', 60n, 0n]);
    }
    // What is beside it in flight may have been given back before, too.
    const two = several(reserveCapture(several(reserveCapture(several(), 30n, false)), 40n, true));
    for (const givenBack of [30n, 45n, 60n]) {
      assert.equal(settleCapture(two, { amount: 40n, finalCapture: true, givenBack }, true).status, 'CAPTURED');
    }
    assert.deepEqual(leftByCapture(two, { amount: 40n, finalCapture: true, givenBack: 1n }), { least: 30n, most: 60n });
  });

  it('leaves the hold closing while a final capture is in flight', () => {
    const first = several(reserveCapture(several(), 40n, false));
    const both = several(reserveCapture(first, 10n, true));
    const { status, closing, inFlight, released } = settle(both, 40n, 50n);
    assert.deepEqual([status, closing, inFlight, released], ['CAPTURED', true, 10n, 50n]);
  });

  it('closes the hold with its final capture or the last of its amount, and says how only when a rest was released', () => {
    const end = ({ status, releaseReason, released }: HoldBooks) => [status, releaseReason, released];
    const last = settle(several(reserveCapture(several(), 100n, false)), 100n, undefined);
    assert.deepEqual(end(last), ['CAPTURED', null, 0n]);
    const final = settleCapture(
      several(reserveCapture(several(), 40n, true)),
      { amount: 40n, finalCapture: true },
      true,
    );
    assert.deepEqual(end(final), ['CAPTURED', 'FINAL', 60n]);
    const beside = several(reserveCapture(several(reserveCapture(several(), 40n, false)), 60n, true));
    const closed = several(settleCapture(beside, { amount: 60n, finalCapture: true }, true));
    assert.deepEqual(end(closed), ['CAPTURED', null, 0n]);
    assert.deepEqual(end(settle(closed, 40n, undefined, false)), ['CAPTURED', 'FINAL', 40n]);
  });

  it('leaves a hold open of which nothing is left while something in flight may return or add to it', () => {
    const two = several(reserveCapture(several(reserveCapture(several(), 40n, false)), 60n, false));
    assert.equal(settle(two, 40n, undefined).status, 'PARTIALLY_CAPTURED');
    const growing = { ...several(reserveCapture(several(), 100n, false)), changing: 'INCREMENT' } as const;
    assert.equal(settle(growing, 100n, undefined).status, 'PARTIALLY_CAPTURED');
  });

  it('captures of a hold that has ended, without opening it or changing how it ended', () => {
    const rest = { remaining: 0n, inFlight: 50n, released: 50n, releaseReason: 'EXPIRED' } as const;
    const ended = several({ ...openHold(100n), status: 'EXPIRED', ...rest });
    const { status, releaseReason, inFlight } = settle(ended, 40n, undefined);
    assert.deepEqual([status, releaseReason, inFlight], ['CAPTURED', 'EXPIRED', 10n]);
    const whole = settle(several({ ...ended, inFlight: 100n, released: 0n }), 100n, undefined);
    assert.deepEqual([whole.status, whole.releaseReason], ['CAPTURED', null]);
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
    assert.deepEqual(reasons({ ...several(), releaseAt: NOW }), ['EXPIRED']);
    assert.deepEqual(reasons({ ...ended, ...reserveCapture(ended, 1n, false) }), []);
    assert.deepEqual(reasons({ ...over, closing: true }), []);
    assert.deepEqual(reasons({ ...over, changing: 'EXTENSION' }), []);
    assert.deepEqual(reasons({ ...several(), releaseAt: NOW, phase: 'UNKNOWN' }), []);
    assert.deepEqual(reasons({ ...over, status: 'CAPTURED', captured: 100n, remaining: 0n }), []);
    assert.deepEqual(reasons({ ...ended, ...failHold(NEVER_PLACED), phase: 'FAILED' }), []);
  });

  it('does not end a hold that captures by itself first, unless that is tried, impossible, or not before the end', () => {
    const first = { ...several(), captureAt: new Date(NOW.getTime() - 1), expiresAt: NOW };
    const isDue = (changes: Partial<HoldState>) => isDueToEnd({ ...first, ...changes }, 'EXPIRED', NOW);
    const capture = { amount: 1n, finalCapture: false };
    assert.deepEqual([isDue({}), judgeAutoCapture(first, NOW)], [false, undefined]);
    assert.equal(judgeCapture(first, capture, NOW), 'CAPTURE_IN_FLIGHT');
    const once = {
      captured: 1n,
      remaining: 99n,
      capabilities: { severalCaptures: false, increments: true, extension: true, refunds: true },
    };
    for (const changes of [
      { captureAt: NOW },
      { releaseAt: first.captureAt },
      { autoCaptureId: 'made' },
      { frozen: true },
      { status: 'PARTIALLY_CAPTURED', ...once },
    ] as const) {
      assert.equal(isDue(changes), true, JSON.stringify(Object.keys(changes)));
      assert.equal(judgeCapture({ ...first, ...changes }, capture, NOW), 'HOLD_EXPIRED');
    }
    assert.equal(isDueToEnd({ ...first, endedAs: 'EXPIRED' }, 'EXPIRED', NOW), true);
  });

  it('ends none of which it is in doubt how much is left, and then refuses it as frozen, not as ended', () => {
    const over = { ...several(), expiresAt: NOW };
    const ended = { ...several(), endedAs: 'RELEASED' } as const;
    for (const [frozenBecause, ends, refusal] of [
      ['UNKNOWN_CHARGE', false, 'HOLD_FROZEN'],
      ['AMOUNT_DIFFERS', false, 'HOLD_FROZEN'],
      ['RESULT_CONTRADICTED', true, undefined],
      [null, true, undefined],
    ] as const) {
      const freezing = { frozen: true, frozenBecause };
      assert.equal(isDueToEnd({ ...over, ...freezing }, 'EXPIRED', NOW), ends);
      assert.equal(isDueToEnd({ ...ended, ...freezing }, 'RELEASED', NOW), ends);
      assert.equal(judgeRelease({ ...over, ...freezing }, NOW), refusal ?? 'HOLD_EXPIRED');
      assert.equal(judgeRelease({ ...ended, ...freezing }, NOW), refusal ?? 'HOLD_RELEASED');
    }
  });
});

describe('a reversal by the card scheme', () => {
  const hold = { ...openHold(100n), captured: 90n, remaining: 10n };
  const capture = { amount: 40n, amountReversed: 15n };
  const marked = { amount: 30n, amountReversed: 30n };

  it('never exceeds its capture, nor all reversals all captures', () => {
    assert.equal(reversibleOf({ ...hold, reversed: 45n }, capture), 25n);
    assert.equal(reversibleOf({ ...hold, reversed: 80n }, capture), 10n);
    assert.equal(reversibleOf({ ...hold, reversed: 45n }, marked), 0n);
    assert.equal(reversibleOf({ ...hold, reversed: 45n }, undefined), 45n);
  });

  it('may take back what was refunded, of which nothing is left to refund then', () => {
    const refunded = { ...hold, refunded: 40n, refunding: 10n };
    const part = { ...capture, amountReversed: 0n, amountRefunded: 25n, amountRefunding: 10n };
    assert.equal(reversibleOf(refunded, part), 40n);
    assert.equal(leftOf(refunded, part), 5n);
    assert.equal(leftOf({ ...refunded, reversed: 40n }, { ...part, amountReversed: 40n }), 0n);
    assert.deepEqual(reverse(refunded, 90n).reversed, 90n);
    assert.throws(() => reverse(refunded, 91n));
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

  it('leaves a hold open whose release or expiry failed', () => {
    for (const reason of ['RELEASED', 'EXPIRED'] as const) {
      const books = settleRelease(several(reserveRelease(several())), { amount: 100n, reason, reported: false }, false);
      assert.deepEqual(books, booksOf(several()));
    }
  });

  it('ends the hold as expired, but for what was not released, and as reported whatever amount was', () => {
    assert.deepEqual(released('EXPIRED', 40n), ['IN_PROGRESS', 60n, 40n]);
    for (const givenBack of [undefined, 100n, 101n]) {
      assert.deepEqual(released('EXPIRED', givenBack), ['EXPIRED', 0n, 100n]);
    }
    for (const givenBack of [undefined, 0n, 40n, 100n, 101n]) {
      assert.deepEqual(released('EXPIRED', givenBack, true), ['EXPIRED', 0n, 100n]);
      assert.deepEqual(released('RELEASED', givenBack, true), ['RELEASED', 0n, 100n]);
    }
  });

  it('notices an amount that compareAmount from our books', () => {
    const reserved = { amount: 100n, reason: 'RELEASED', reported: false } as const;
    const found = [undefined, 99n, 100n, 101n].map((givenBack) =>
      compareAmount(givenBack, leftByRelease(reserveRelease(several()), { ...reserved, givenBack })),
    );
    assert.deepEqual(found, [undefined, 'LESS', undefined, 'MORE']);
    // When it is reported, it was compared then.
    const reported = { ...reserved, reported: true, givenBack: 99n };
    assert.equal(compareAmount(99n, leftByRelease(reserveRelease(several()), reported)), undefined);
  });
});
