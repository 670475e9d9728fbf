/** Increments, extensions and renewals: the order of their refusals, and what increments make of a hold. */
import assert from 'node:assert/strict';
import { judgeExtension, judgeIncrement, settleIncrement } from '../../../../services/core/domain/change-rules.ts';
import type { HoldState } from '../../../../services/core/domain/hold-rules.ts';
import { judgeRenewal } from '../../../../services/core/domain/renewal-rules.ts';

const NOW = new Date('2027-01-01T00:00:00Z');
const nothing = { captured: 0n, inFlight: 0n, released: 0n, reversed: 0n, refunded: 0n, refunding: 0n, closing: false };
const HOLD: HoldState = {
  ...nothing,
  status: 'IN_PROGRESS',
  phase: 'AUTHORIZED',
  amount: 100n,
  remaining: 100n,
  frozen: false,
  expiresAt: new Date('2027-01-08T00:00:00Z'),
  allowMultipleCaptures: true,
};
const ABLE = { severalCaptures: true, increments: true, extension: true, refunds: true };

/**
 * Asserts the refusal for each cause alone, and the refusals of a hold for which all of them apply, while their causes
 * go one after the other.
 */
function inOrder(judge: (hold: HoldState) => string | undefined, causes: readonly (readonly [string, object])[]): void {
  let hold = Object.assign({}, HOLD, ...causes.map(([, cause]) => cause)) as HoldState;
  for (const [code, cause] of causes) {
    assert.equal(judge({ ...HOLD, ...cause }), code);
    assert.equal(judge(hold), code);
    const cured = Object.keys(cause).map((name) => [name, HOLD[name as keyof HoldState]]);
    hold = { ...hold, ...Object.fromEntries(cured) };
  }
  assert.equal(judge(hold), undefined);
}

describe('judgeIncrement() and judgeExtension()', () => {
  const causes = [
    ['HOLD_NOT_PLACED', { phase: 'FAILED' }],
    ['HOLD_EXPIRED', { expiresAt: NOW }],
    ['NOT_SUPPORTED', { capabilities: { ...ABLE, increments: false, extension: false } }],
    ['HOLD_FROZEN', { frozen: true }],
    ['CAPTURE_IN_FLIGHT', { closing: true }],
    ['CAPTURE_IN_FLIGHT', { changing: 'EXTENSION' }],
    ['CAPTURE_IN_FLIGHT', { remaining: 0n, inFlight: 100n }],
  ] as const;

  it('judge in the documented order', () => {
    inOrder((hold) => judgeIncrement(hold, 1n, NOW), [['AMOUNT_TOO_LARGE', { amount: 999_999_999_999n }], ...causes]);
    inOrder((hold) => judgeExtension(hold, NOW), causes);
  });

  it('let a hold grow to the largest amount', () => {
    assert.equal(judgeIncrement({ ...HOLD, amount: 999_999_999_998n }, 1n, NOW), undefined);
  });

  it('of a hold that has ended say how', () => {
    for (const [end, code] of [
      [{ status: 'CAPTURED', captured: 100n, remaining: 0n }, 'HOLD_CAPTURED'],
      [{ status: 'RELEASED', releaseReason: 'RELEASED', released: 100n, remaining: 0n }, 'HOLD_RELEASED'],
      [{ endedAs: 'RELEASED' }, 'HOLD_RELEASED'],
      [{ endedAs: 'EXPIRED' }, 'HOLD_EXPIRED'],
    ] as const) {
      assert.equal(judgeExtension({ ...HOLD, ...end }, NOW), code);
    }
  });
});

describe('judgeRenewal()', () => {
  const failed = ['HOLD_NOT_PLACED', { phase: 'FAILED' }] as const;
  const frozen = ['HOLD_FROZEN', { frozen: true }] as const;

  it('judges in the documented order', () => {
    inOrder(
      (hold) => judgeRenewal(hold, 'tok', hold.remaining),
      [failed, frozen, ['CAPTURE_IN_FLIGHT', { remaining: 0n, inFlight: 100n }]],
    );
    inOrder((hold) => judgeRenewal(hold, 'tok', 5n), [failed, frozen]);
    assert.equal(judgeRenewal({ ...HOLD, frozen: true }, null, 5n), 'NOT_SUPPORTED');
    assert.equal(judgeRenewal({ ...HOLD, phase: 'FAILED' }, null, 5n), 'HOLD_NOT_PLACED');
  });

  it('renews a hold that has ended for an amount, but not one of which nothing remained', () => {
    const captured = { ...HOLD, status: 'CAPTURED', captured: 100n, remaining: 0n } as const;
    assert.equal(judgeRenewal(captured, 'tok', 0n), 'HOLD_CAPTURED');
    assert.equal(judgeRenewal(captured, 'tok', 5n), undefined);
  });
});

describe('settleIncrement()', () => {
  const whole = { ...HOLD, captured: 100n, remaining: 0n, changing: 'INCREMENT' } as const;
  const line = ({ status, amount, remaining, released }: ReturnType<typeof settleIncrement>) =>
    [status, amount, remaining, released].join(' ');
  const CASES: [name: string, hold: HoldState, answers: [ok: boolean, imported: boolean, books: string][]][] = [
    [
      'an open hold',
      { ...HOLD, changing: 'INCREMENT' },
      [
        [true, false, 'IN_PROGRESS 120 120 0'],
        [false, false, 'IN_PROGRESS 100 100 0'],
      ],
    ],
    [
      'a hold that is used up meanwhile',
      { ...whole, status: 'PARTIALLY_CAPTURED' },
      [
        [true, false, 'PARTIALLY_CAPTURED 120 20 0'],
        [false, false, 'CAPTURED 100 0 0'],
      ],
    ],
    [
      'a hold that was closed with all of it captured',
      { ...whole, status: 'CAPTURED' },
      [
        [true, false, 'CAPTURED 120 0 20'],
        [true, true, 'PARTIALLY_CAPTURED 120 20 0'],
        [false, true, 'CAPTURED 100 0 0'],
      ],
    ],
    [
      'a hold whose rest was given back',
      { ...whole, status: 'CAPTURED', captured: 60n, released: 40n, releaseReason: 'FINAL' },
      [[true, true, 'CAPTURED 120 0 60']],
    ],
    [
      'a hold that has expired',
      { ...HOLD, status: 'EXPIRED', remaining: 0n, released: 100n, releaseReason: 'EXPIRED' },
      [
        [true, true, 'EXPIRED 120 0 120'],
        [false, true, 'EXPIRED 100 0 100'],
      ],
    ],
    [
      'a hold of which one capture is allowed',
      { ...whole, status: 'CAPTURED', allowMultipleCaptures: false },
      [[true, true, 'CAPTURED 120 0 20']],
    ],
  ];
  for (const [name, hold, answers] of CASES) {
    it(`settles one of ${name}`, () => {
      for (const [ok, imported, books] of answers) assert.equal(line(settleIncrement(hold, 20n, ok, imported)), books);
    });
  }
});
