/**
 * The effect of a correction on the books of a hold: an operation ended otherwise than was told. Amounts are minor
 * units.
 */
import { settleCapture } from './capture-rules.ts';
import { settleIncrement } from './change-rules.ts';
import { booksOf, checked, type HoldBooks, type HoldState, isOpen, LARGEST_AMOUNT } from './hold-rules.ts';
import type { SubmissionKind, SubmissionState } from './kinds.ts';
import { type RefundedCapture, returnRefund } from './refund-rules.ts';
import type { RefusalCode } from './refusal.ts';
import { settlePartialRelease } from './release-rules.ts';

/** The told result, as the rules need it. */
export interface Ended {
  readonly state: SubmissionState;
  readonly amount: bigint;
  /** Of a refund or an OCT: what came back of it. */
  readonly amountReturned: bigint;
  readonly finalCapture?: boolean | null | undefined;
  readonly amountReversed?: bigint | null | undefined;
  readonly amountRefunded?: bigint | null | undefined;
  readonly amountRefunding?: bigint | null | undefined;
  /** A renewal has replaced its authorization since: what remains is on another one. */
  readonly isReplaced?: boolean | undefined;
  /** Of a capture whose authorization was replaced: what a correction has left to the void of that one. */
  readonly amountLeft?: bigint | undefined;
}

/** The kinds whose result may be corrected; of the others nothing says what became of the hold since. */
export type CorrectableKind = Extract<SubmissionKind, 'CAPTURE' | 'PARTIAL_RELEASE' | 'INCREMENT' | 'REFUND' | 'OCT'>;

const CORRECTABLE: ReadonlySet<string> = new Set<CorrectableKind>([
  'CAPTURE',
  'PARTIAL_RELEASE',
  'INCREMENT',
  'REFUND',
  'OCT',
]);

/** Returns whether results of a kind may be corrected. */
export function isCorrectable(kind: string): kind is CorrectableKind {
  return CORRECTABLE.has(kind);
}

/** The amount that a correction moves: the part of a refund or OCT that came back has moved already. */
export function movedBy({ amount, amountReturned }: Pick<Ended, 'amount' | 'amountReturned'>): bigint {
  return amount - amountReturned;
}

/**
 * Corrects a capture. Returns the books, or the reason against it. What was not captured of an authorization that was
 * replaced was given back with that one, so it does not remain, and there is no other room in it.
 */
export function correctCapture(hold: HoldState, capture: Ended, ok: boolean): RefusalCode | HoldBooks {
  const { amount, isReplaced = false, amountLeft = 0n } = capture;
  const finalCapture = capture.finalCapture ?? false;
  if (hold.closing) return 'CAPTURE_IN_FLIGHT';
  const isGivenBack = isReplaced && isOpen(hold);
  if (ok && isReplaced && amount > amountLeft) return 'AMOUNT_EXCEEDS_HOLD';
  if (ok && isGivenBack) {
    const { captured, released } = hold;
    const books = { captured: captured + amount, released: released - amount, status: 'PARTIALLY_CAPTURED' } as const;
    return checked({ ...booksOf(hold), ...books });
  }
  if (ok) {
    const room = roomOf(hold);
    if (amount > room) return amount <= room + hold.inFlight ? 'CAPTURE_IN_FLIGHT' : 'AMOUNT_EXCEEDS_HOLD';
    return settleCapture(
      { ...hold, ...withRoom(hold, -amount), inFlight: hold.inFlight + amount },
      { amount, finalCapture },
      ok,
    );
  }
  const { amountReversed, amountRefunded, amountRefunding } = capture;
  const captured = hold.captured - amount;
  // A reversal that names no capture may be of this one.
  const isTakenBack = (amountReversed ?? 0n) + (amountRefunded ?? 0n) + (amountRefunding ?? 0n) > 0n;
  if (isTakenBack || hold.reversed > captured) return 'NOT_CORRECTABLE';
  const room = isGivenBack ? { released: hold.released + amount } : withRoom(hold, amount);
  return checked({ ...booksOf(hold), captured, ...room, ...statusWith(hold, captured) });
}

/**
 * Corrects a partial release. Returns the books, or the reason against it. Of a hold that has ended nothing moves: all
 * that was not captured was given back, by this or by the end. What was given back of an authorization that was replaced
 * has its place in the void of that one.
 */
export function correctPartialRelease(hold: HoldState, release: Ended, ok: boolean): RefusalCode | HoldBooks {
  const { amount, isReplaced } = release;
  if (hold.closing) return 'CAPTURE_IN_FLIGHT';
  if (isReplaced && isOpen(hold)) return 'NOT_CORRECTABLE';
  const room = roomOf(hold);
  if (ok && amount > room) return amount <= room + hold.inFlight ? 'CAPTURE_IN_FLIGHT' : 'AMOUNT_EXCEEDS_HOLD';
  if (!isOpen(hold)) return booksOf(hold);
  const { remaining, released, inFlight } = hold;
  if (!ok) return checked({ ...booksOf(hold), remaining: remaining + amount, released: released - amount });
  const reserved = { ...hold, remaining: remaining - amount, inFlight: inFlight + amount };
  return settlePartialRelease(reserved, amount, ok);
}

/**
 * Corrects an increment. Returns the books, or the reason against it. A renewal has reserved what had been added, or not.
 */
export function correctIncrement(hold: HoldState, increment: Ended, ok: boolean): RefusalCode | HoldBooks {
  const { amount, isReplaced } = increment;
  if (hold.closing || hold.changing != null) return 'CAPTURE_IN_FLIGHT';
  if (isReplaced) return 'NOT_CORRECTABLE';
  if (ok) return hold.amount + amount > LARGEST_AMOUNT ? 'AMOUNT_TOO_LARGE' : settleIncrement(hold, amount, ok, true);
  const room = roomOf(hold);
  if (amount > room) return amount <= room + hold.inFlight ? 'CAPTURE_IN_FLIGHT' : 'NOT_CORRECTABLE';
  return settleIncrement({ ...hold, ...withRoom(hold, -amount), amount: hold.amount - amount }, amount, ok);
}

/** Corrects a refund. Returns the books, or the reason against it. A reversal by the card scheme is no such reason. */
export function correctRefund(
  hold: HoldState,
  refund: Ended,
  capture: RefundedCapture,
  ok: boolean,
): RefusalCode | HoldBooks {
  const moved = movedBy(refund);
  if (moved === 0n || capture.state !== 'OK') return 'NOT_CORRECTABLE';
  if (!ok) return returnRefund(hold, moved);
  const left = capture.amount - (capture.amountRefunded ?? 0n);
  if (moved > left) return 'AMOUNT_EXCEEDS_CAPTURE';
  return moved > left - (capture.amountRefunding ?? 0n) ? 'CAPTURE_NOT_SETTLED' : returnRefund(hold, -moved);
}

/** The amount of a hold that can still be captured, or was given back at its end. */
function roomOf(hold: HoldBooks): bigint {
  return isOpen(hold) ? hold.remaining : hold.released;
}

/** The room of a hold with `more` in it. */
function withRoom(hold: HoldBooks, more: bigint): Pick<HoldBooks, 'remaining' | 'released' | 'releaseReason'> {
  const { remaining, released, releaseReason } = hold;
  if (isOpen(hold)) return { remaining: remaining + more, released, releaseReason };
  const rest = released + more;
  return { remaining, released: rest, releaseReason: rest > 0n ? (releaseReason ?? 'FINAL') : null };
}

/** The status of a hold with this captured amount. A hold that has ended stays so, for the same reason. */
function statusWith(hold: HoldBooks, captured: bigint): Partial<HoldBooks> {
  if (captured > 0n) return {};
  if (isOpen(hold)) return { status: 'IN_PROGRESS' };
  return { status: hold.releaseReason === 'EXPIRED' ? 'EXPIRED' : 'RELEASED' };
}
