import assert from 'node:assert/strict';
import type { HoldBooks, HoldState } from '../../../../services/core/domain/hold-rules.ts';
import { judgeImportedRefund, judgeRefund, settleRefund } from '../../../../services/core/domain/refund-rules.ts';

describe('judgeRefund()', () => {
  const books: HoldBooks = {
    status: 'PARTIALLY_CAPTURED',
    amount: 100n,
    captured: 90n,
    inFlight: 0n,
    remaining: 10n,
    released: 0n,
    reversed: 0n,
    refunded: 0n,
    refunding: 0n,
    closing: false,
  };
  const hold: HoldState = { ...books, phase: 'AUTHORIZED', frozen: false, allowMultipleCaptures: true };
  const capture = { amount: 40n, state: 'OK' } as const;
  const busy = { ...capture, amountRefunding: 30n };
  const reserved = { ...hold, refunding: 30n };
  const once = { severalCaptures: true, increments: true, extension: true, refunds: false };
  const CASES: [
    name: string,
    hold: HoldState,
    capture: Parameters<typeof judgeRefund>[1],
    amount: bigint | undefined,
    answer: string | bigint,
  ][] = [
    ['all of it', hold, capture, 40n, 40n],
    [
      'what is left, when no amount is said',
      hold,
      { ...capture, amountRefunded: 15n, amountReversed: 5n },
      undefined,
      20n,
    ],
    ['more than the capture, in any state', hold, { ...capture, state: 'UNKNOWN' }, 41n, 'AMOUNT_EXCEEDS_CAPTURE'],
    ['a capture that is unknown', hold, { ...capture, state: 'UNKNOWN' }, 40n, 'CAPTURE_NOT_SETTLED'],
    ['a capture that is KO', hold, { ...capture, state: 'KO' }, 1n, 'AMOUNT_EXCEEDS_CAPTURE'],
    ['what the authorization cannot do', { ...hold, capabilities: once, frozen: true }, capture, 1n, 'NOT_SUPPORTED'],
    ['a frozen hold', { ...hold, frozen: true }, capture, 1n, 'HOLD_FROZEN'],
    ['an expired hold', { ...hold, expiresAt: new Date(0) }, capture, 1n, 1n],
    ['what another refund has reserved', reserved, busy, 11n, 'CAPTURE_NOT_SETTLED'],
    ['all of it beside another refund', reserved, busy, 40n, 'CAPTURE_NOT_SETTLED'],
    [
      'all of it, when another refund has reserved it',
      { ...hold, refunding: 40n },
      { ...capture, amountRefunding: 40n },
      undefined,
      'CAPTURE_NOT_SETTLED',
    ],
    ['beside another refund', reserved, busy, 10n, 10n],
    [
      'more than is left even if the other fails',
      reserved,
      { ...busy, amountReversed: 10n },
      31n,
      'AMOUNT_EXCEEDS_CAPTURE',
    ],
    ['nothing left', hold, { ...capture, amountRefunded: 40n }, undefined, 'AMOUNT_EXCEEDS_CAPTURE'],
    ['less than is left of all captures', { ...hold, reversed: 60n }, capture, 31n, 'AMOUNT_EXCEEDS_CAPTURE'],
    [
      'what a reversal and a refund of other captures leave',
      { ...hold, reversed: 30n, refunded: 50n },
      capture,
      11n,
      'AMOUNT_EXCEEDS_CAPTURE',
    ],
    [
      'what a reversal leaves beside a refund of another capture',
      { ...hold, reversed: 30n, refunding: 50n },
      capture,
      11n,
      'CAPTURE_NOT_SETTLED',
    ],
  ];
  for (const [name, on, of, amount, answer] of CASES) {
    it(`judges ${name}`, () => {
      const judgement = judgeRefund(on, of, amount);
      assert.equal(typeof judgement === 'string' ? judgement : judgement.amount, answer);
    });
  }

  for (const [name, on, of, amount, answer] of [
    ['what was reversed since', { ...hold, reversed: 90n }, { ...capture, amountReversed: 40n }, 40n, 40n],
    ['what the authorization cannot do any more', { ...hold, capabilities: once, frozen: true }, capture, 40n, 40n],
    ['more than is left beside a refund without a result', reserved, busy, 11n, 'CAPTURE_NOT_SETTLED'],
    ['more than was not refunded', hold, { ...capture, amountRefunded: 30n }, 11n, 'AMOUNT_EXCEEDS_CAPTURE'],
    ['a capture without a result', hold, { ...capture, state: 'UNKNOWN' }, 1n, 'CAPTURE_NOT_SETTLED'],
  ] as const) {
    it(`judges an imported refund of ${name}`, () => {
      const judgement = judgeImportedRefund(on, of, amount);
      assert.equal(typeof judgement === 'string' ? judgement : judgement.amount, answer);
    });
  }

  it('moves what it reserved', () => {
    const reserving = { ...books, refunding: 30n };
    const settled = [true, false].map((ok) => settleRefund(reserving, 30n, ok));
    assert.deepEqual(
      settled.map(({ refunded, refunding }) => [refunded, refunding]),
      [
        [30n, 0n],
        [0n, 0n],
      ],
    );
    assert.throws(() => settleRefund(books, 1n, true), /settles what it reserved/);
  });
});
