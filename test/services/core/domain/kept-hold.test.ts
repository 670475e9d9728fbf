import assert from 'node:assert/strict';
import {
  judgeImportedRenewal,
  judgeKeeping,
  type KeptHold,
  nextRenewal,
  renewalAfter,
  takesOver,
} from '../../../../services/core/domain/kept-hold.ts';
import { NEVER_RECEIVED } from '../../../../services/core/domain/outcome.ts';
import { several } from './holds.ts';

const NOW = new Date('2026-03-01T12:00:00Z');
const HOUR_MS = 3_600_000;
const at = (hours: number) => new Date(NOW.getTime() + hours * HOUR_MS);
const hoursTo = (time: Date | null | undefined) => time && (time.getTime() - NOW.getTime()) / HOUR_MS;
const approved = { answer: 'APPROVED', reference: 'r', bankReference: '' } as const;
const declined = { answer: 'DECLINED', code: 'no', message: 'No.' } as const;

describe('a kept hold', () => {
  const kept = { keepUntil: at(1_000) };

  it('renews itself two days before its guarantee ends, or in the last third of a short one', () => {
    assert.equal(hoursTo(nextRenewal(kept, at(10 * 24), NOW)), 8 * 24);
    assert.equal(hoursTo(nextRenewal(kept, at(3), NOW)), 2);
    assert.equal(hoursTo(nextRenewal(kept, at(-1), NOW)), -1);
  });

  it('does so never when it is needed no longer', () => {
    for (const needed of [{ keepUntil: at(5) }, { captureAt: at(4) }, { releaseAt: at(5) }])
      assert.equal(nextRenewal({ keepUntil: at(50), ...needed }, at(5), NOW), undefined);
    assert.equal(hoursTo(nextRenewal({ keepUntil: at(5.1), captureAt: at(5.1) }, at(5), NOW))?.toFixed(1), '3.3');
    assert.equal(nextRenewal({ keepUntil: null }, at(5), NOW), undefined);
  });

  it('asks again a day after another answer, soon after none, and at once when it was overtaken', () => {
    for (const other of [declined, { ...declined, answer: 'NOT_PERFORMED' } as const, { ...approved, amount: 99n }])
      assert.equal(hoursTo(renewalAfter(kept, 100n, other, NOW)), 24);
    assert.equal(hoursTo(renewalAfter(kept, 100n, NEVER_RECEIVED, NOW)), 1 / 60);
    assert.equal(renewalAfter(kept, 100n, approved, NOW), undefined);
  });

  it('asks no more when it is needed no longer then', () => {
    for (const needed of [{ keepUntil: at(24) }, { captureAt: at(24) }, { releaseAt: at(3) }, { keepUntil: null }])
      assert.equal(renewalAfter({ ...kept, ...needed }, 100n, declined, NOW), null);
    assert.equal(renewalAfter({ keepUntil: at(0.01) }, 100n, NEVER_RECEIVED, NOW), null);
  });

  const placed: KeptHold = {
    ...several(),
    requestId: 'hold',
    tokenId: 'tok',
    expiresAt: at(24),
    keepUntil: at(24),
    renewAt: NOW,
  };
  const changes: [string, Partial<KeptHold>, string][] = [
    ['is not placed', { phase: 'FAILED' }, 'HOLD_NOT_PLACED'],
    ['is over', { expiresAt: NOW }, 'HOLD_EXPIRED'],
    ['has no token', { tokenId: null }, 'NOT_SUPPORTED'],
    ['is frozen', { frozen: true }, 'HOLD_FROZEN'],
    ['is not due', { renewAt: at(1) }, 'CAPTURE_IN_FLIGHT'],
    ['is needed no longer', { keepUntil: NOW }, 'CAPTURE_IN_FLIGHT'],
    ['has a capture in flight', { inFlight: 1n }, 'CAPTURE_IN_FLIGHT'],
    ['is closing', { closing: true }, 'CAPTURE_IN_FLIGHT'],
    ['is changing', { changing: 'INCREMENT' }, 'CAPTURE_IN_FLIGHT'],
    ['has nothing left', { remaining: 0n }, 'CAPTURE_IN_FLIGHT'],
    ['is being renewed', { renewalId: 'r' }, 'CAPTURE_IN_FLIGHT'],
    ['has an authorization to give back', { toVoid: 'hold' }, 'CAPTURE_IN_FLIGHT'],
  ];

  it('is renewed when it is due', () => assert.equal(judgeKeeping(placed, NOW), undefined));

  for (const [what, change, refusal] of changes) {
    it(`is not renewed when it ${what}`, () => assert.equal(judgeKeeping({ ...placed, ...change }, NOW), refusal));
  }

  it('takes an imported renewal whatever has happened to it, when the one before is decided', () => {
    for (const change of [{ inFlight: 1n }, { closing: true }, { frozen: true }, { renewAt: null }])
      assert.equal(judgeImportedRenewal({ ...placed, ...change }), undefined);
    for (const change of [{ renewalId: 'r' }, { toVoid: 'hold' }])
      assert.equal(judgeImportedRenewal({ ...placed, ...change }), 'CAPTURE_IN_FLIGHT');
    assert.equal(judgeImportedRenewal({ ...placed, phase: 'FAILED' }), 'HOLD_NOT_PLACED');
  });

  it('takes over an authorization of exactly what remains, when nothing is in flight', () => {
    assert(takesOver(placed, { amount: 100n }, approved));
    assert(takesOver(placed, { amount: 100n }, { ...approved, amount: 100n }));
    assert(!takesOver(placed, { amount: 100n }, { ...approved, amount: 99n }));
    assert(!takesOver(placed, { amount: 100n }, declined));
    for (const change of [
      { remaining: 90n },
      { inFlight: 1n },
      { closing: true },
      { changing: 'EXTENSION' },
      { frozen: true },
      { endedAs: 'EXPIRED' },
      { status: 'RELEASED' },
    ] as const)
      assert(!takesOver({ ...placed, ...change }, { amount: 100n }, approved), JSON.stringify(Object.keys(change)));
  });
});
