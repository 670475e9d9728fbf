import assert from 'node:assert/strict';
import {
  judgeImportedRenewal,
  judgeKeeping,
  type KeptHold,
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

const ASKED = { amount: 100n, createdAt: at(-1) };

describe('a kept hold', () => {
  const kept = { keepUntil: at(1_000) };

  it('asks again a day after another answer, soon after none, and at once when it was overtaken', () => {
    for (const other of [declined, { ...declined, answer: 'NOT_PERFORMED' } as const, { ...approved, amount: 99n }])
      assert.equal(hoursTo(renewalAfter(kept, ASKED, other, NOW)), 24);
    assert.equal(hoursTo(renewalAfter(kept, ASKED, NEVER_RECEIVED, NOW)), 1 / 60);
    assert.equal(renewalAfter(kept, ASKED, approved, NOW), undefined);
  });

  it('asks again a day after one that was over before it was asked for, and as planned after one that is over by now', () => {
    assert.equal(hoursTo(renewalAfter(kept, ASKED, approved, NOW, at(-1))), 24);
    assert.equal(renewalAfter(kept, ASKED, approved, NOW, at(-0.5)), undefined);
  });

  it('asks no more when it is needed no longer then', () => {
    for (const needed of [{ keepUntil: at(24) }, { captureAt: at(24) }, { releaseAt: at(3) }, { keepUntil: null }])
      assert.equal(renewalAfter({ ...kept, ...needed }, ASKED, declined, NOW), null);
    assert.equal(renewalAfter({ keepUntil: at(0.01) }, ASKED, NEVER_RECEIVED, NOW), null);
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
