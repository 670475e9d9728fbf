import assert from 'node:assert/strict';
import fc from 'fast-check';
import { judgeCapture, settleCapture } from '../../../../services/core/domain/capture-rules.ts';
import {
  failHold,
  type HoldBooks,
  type HoldState,
  isDueToEnd,
  isOpen,
} from '../../../../services/core/domain/hold-rules.ts';
import {
  judgePartialRelease,
  judgeRelease,
  settlePartialRelease,
  settleRelease,
} from '../../../../services/core/domain/release-rules.ts';
import { reinstate, reverse } from '../../../../services/core/domain/reversal-rules.ts';
import { ABLE, NOW, openHold, reserveCapture, reservePart, reserveRelease, several } from './holds.ts';

describe('the arithmetic of holds', () => {
  it('throws when it settles what was not reserved', () => {
    assert.throws(() => settleCapture(several(), { amount: 1n, finalCapture: false }, true));
    assert.throws(() => settleRelease(several(), { amount: 1n, reason: 'RELEASED', reported: false }, true));
    assert.throws(() => settlePartialRelease(several(), 1n, true));
    assert.throws(() => reverse(openHold(100n), 1n));
    assert.throws(() => reinstate(openHold(100n), 1n));
    assert.throws(() => failHold(reserveCapture(several(), 1n, false)));
  });

  it('balances after any commands and any answers, and a closed hold stays closed', () => {
    const command = fc.record({
      do: fc.constantFrom('capture', 'final', 'part', 'release', 'expire', 'ok', 'ko', 'reverse'),
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
  readonly kind: 'CAPTURE' | 'PART' | 'RELEASED' | 'EXPIRED';
  readonly amount: bigint;
  readonly finalCapture: boolean;
}

/** A hold with its attempts, whose sums are kept separately and compared after each step. */
class Model {
  hold: HoldState;
  pending: Pending[] = [];
  captured: bigint[] = [];
  parts: bigint[] = [];
  reversed = 0n;

  constructor(allowMultipleCaptures: boolean) {
    this.hold = { ...several(), capabilities: ABLE, allowMultipleCaptures };
  }

  play(what: string, amount: bigint, which: number): void {
    if (what === 'capture' || what === 'final') this.capture(amount, what === 'final');
    else if (what === 'part') this.releasePart(amount);
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

  private releasePart(amount: bigint): void {
    if (judgePartialRelease(this.hold, amount, NOW)) return;
    this.become(reservePart(this.hold, amount));
    this.pending.push({ kind: 'PART', amount, finalCapture: false });
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
    else if (attempt.kind === 'PART') this.become(settlePartialRelease(this.hold, attempt.amount, ok));
    else this.become(settleRelease(this.hold, { amount: attempt.amount, reason: attempt.kind, reported: false }, ok));
    if (ok && attempt.kind === 'CAPTURE') this.captured.push(attempt.amount);
    if (ok && attempt.kind === 'PART') this.parts.push(attempt.amount);
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
    assert(!isOpen(this.hold) || released === sum(this.parts), 'only parts are released of an open hold');
    assert(released >= sum(this.parts));
    assert((status === 'IN_PROGRESS') === (isOpen(this.hold) && captured === 0n));
    assert(status !== 'CAPTURED' || captured > 0n);
    assert(!['RELEASED', 'EXPIRED'].includes(status) || captured === 0n);
  }
}
