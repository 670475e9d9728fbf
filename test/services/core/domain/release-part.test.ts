/** Releases of a part: the order of their refusals, and their effect on the books. */
import assert from 'node:assert/strict';
import type { HoldState } from '../../../../services/core/domain/hold-rules.ts';
import {
  judgeImportedPart,
  judgePartialRelease,
  settlePartialRelease,
} from '../../../../services/core/domain/release-rules.ts';
import { ABLE, NOW, openHold, reservePart, several } from './holds.ts';

const HOLD: HoldState = { ...several(), capabilities: ABLE };
const RELEASED = {
  ...HOLD,
  ...{ status: 'RELEASED', releaseReason: 'RELEASED', remaining: 0n, released: 100n },
} as const satisfies HoldState;

describe('judgePartialRelease()', () => {
  it('judges in the documented order', () => {
    const causes: readonly (readonly [code: string, cause: Partial<HoldState>])[] = [
      ['HOLD_NOT_PLACED', { phase: 'FAILED' }],
      ['HOLD_EXPIRED', { expiresAt: NOW }],
      ['NOT_SUPPORTED', { capabilities: { ...ABLE, partialRelease: false } }],
      ['HOLD_FROZEN', { frozen: true }],
      ['CAPTURE_IN_FLIGHT', { closing: true }],
    ];
    let rest: Partial<HoldState> = Object.assign({}, ...causes.map(([, cause]) => cause));
    assert.equal(judgePartialRelease({ ...HOLD, ...rest }, 101n, NOW), 'AMOUNT_EXCEEDS_HOLD');
    for (const [code, cause] of causes) {
      assert.equal(judgePartialRelease({ ...HOLD, ...cause }, 1n, NOW), code);
      assert.equal(judgePartialRelease({ ...HOLD, ...rest }, 1n, NOW), code);
      rest = Object.fromEntries(Object.entries(rest).filter(([name]) => !(name in cause)));
    }
    assert.equal(judgePartialRelease(HOLD, 99n, NOW), undefined);
  });

  it('waits for what makes it impossible to know how much is left', () => {
    for (const cause of [{ remaining: 60n, inFlight: 40n }, { changing: 'INCREMENT' }] as const)
      assert.equal(judgePartialRelease({ ...HOLD, ...cause }, 1n, NOW), 'CAPTURE_IN_FLIGHT');
    assert.equal(judgePartialRelease({ ...HOLD, remaining: 60n, captured: 40n }, 61n, NOW), 'AMOUNT_EXCEEDS_HOLD');
    assert.equal(judgePartialRelease(HOLD, 100n, NOW), 'CAPTURE_IN_FLIGHT', 'it was a part when it was asked');
  });

  it('is not able where an authorization does not say so', () => {
    for (const capabilities of [undefined, { ...ABLE, partialRelease: undefined }])
      assert.equal(judgePartialRelease({ ...HOLD, capabilities } as HoldState, 1n, NOW), 'NOT_SUPPORTED');
  });
});

describe('judgeImportedPart()', () => {
  it('takes it from what remains, or from what a hold that has ended gave back', () => {
    for (const [hold, amount, code] of [
      [HOLD, 100n, undefined],
      [HOLD, 101n, 'AMOUNT_EXCEEDS_HOLD'],
      [{ ...HOLD, frozen: true, expiresAt: NOW, capabilities: null }, 1n, undefined],
      [RELEASED, 100n, undefined],
      [RELEASED, 101n, 'AMOUNT_EXCEEDS_HOLD'],
      [{ ...HOLD, closing: true }, 1n, 'CAPTURE_IN_FLIGHT'],
      [{ ...HOLD, phase: 'FAILED' }, 1n, 'HOLD_NOT_PLACED'],
    ] as const)
      assert.equal(judgeImportedPart(hold as HoldState, amount), code);
  });
});

describe('settlePartialRelease()', () => {
  const settled = (hold: HoldState, amount: bigint, ok: boolean) => {
    const { status, remaining, released, inFlight, closing } = settlePartialRelease(hold, amount, ok);
    return [status, remaining, released, inFlight, closing];
  };
  const reserved = { ...HOLD, ...reservePart(HOLD, 30n) };

  it('gives the part back and leaves the hold open, or gives it to the hold again', () => {
    assert.deepEqual(settled(reserved, 30n, true), ['IN_PROGRESS', 70n, 30n, 0n, false]);
    assert.deepEqual(settled(reserved, 30n, false), ['IN_PROGRESS', 100n, 0n, 0n, false]);
  });

  it('that took all that was left ends the hold', () => {
    const all = { ...HOLD, ...reservePart(HOLD, 100n) };
    assert.deepEqual(settled(all, 100n, true), ['RELEASED', 0n, 100n, 0n, false]);
    const captured = {
      ...HOLD,
      ...openHold(100n),
      captured: 40n,
      remaining: 0n,
      inFlight: 60n,
      closing: true,
    } as const;
    assert.deepEqual(settled({ ...captured, status: 'PARTIALLY_CAPTURED' }, 60n, true), [
      'CAPTURED',
      0n,
      60n,
      0n,
      false,
    ]);
  });

  it('of a hold that has ended was released with the rest, whatever its result', () => {
    const how = { status: 'EXPIRED', releaseReason: 'EXPIRED' } as const;
    const ended = { ...RELEASED, ...how, released: 70n, inFlight: 30n };
    for (const ok of [true, false]) assert.deepEqual(settled(ended, 30n, ok), ['EXPIRED', 0n, 100n, 0n, false]);
  });
});
