/** Amounts that the card scheme takes back of captures, and gives again. Amounts are minor units. */
import { booksOf, checked, type HoldBooks } from './hold-rules.ts';

/** A capture of which something may have been taken back or refunded. Minor units. */
export interface ReversedCapture {
  readonly amount: bigint;
  /** The amount taken back and not given again. */
  readonly amountReversed?: bigint | null | undefined;
  readonly amountRefunded?: bigint | null | undefined;
  /** Reserved by refunds without a result. */
  readonly amountRefunding?: bigint | null | undefined;
}

/** Books a reversal, which gives nothing back to remaining. */
export function reverse(hold: HoldBooks, amount: bigint): HoldBooks {
  return checked({ ...booksOf(hold), reversed: hold.reversed + amount });
}

/** Books that a reversal, or a part of it, was undone. */
export function reinstate(hold: HoldBooks, amount: bigint): HoldBooks {
  return checked({ ...booksOf(hold), reversed: hold.reversed - amount });
}

/** The amount taken back of a capture; without one, of the hold and no known capture. It bounds reinstatements. */
export function takenBackOf(
  hold: HoldBooks,
  capture: ReversedCapture | undefined,
  captures: readonly ReversedCapture[],
): bigint {
  if (capture) return capture.amountReversed ?? 0n;
  return captures.reduce((rest, each) => rest - (each.amountReversed ?? 0n), hold.reversed);
}

/**
 * The amount that the card scheme may still take back of a capture, and of all captures of its hold, whatever was
 * refunded. Undefined = a reversal that names no capture.
 */
export function reversibleOf(hold: HoldBooks, capture: ReversedCapture | undefined): bigint {
  const ofAll = hold.captured - hold.reversed;
  const ofCapture = capture ? capture.amount - (capture.amountReversed ?? 0n) : ofAll;
  return ofCapture < ofAll ? ofCapture : ofAll;
}
