import assert from 'node:assert/strict';
import { booksOf, checked, type HoldBooks, type HoldState } from './hold-rules.ts';
import type { SubmissionState } from './kinds.ts';
import type { RefusalCode } from './refusal.ts';
import type { ReversedCapture } from './reversal-rules.ts';

/** The capture that a refund gives back. */
export interface RefundedCapture extends ReversedCapture {
  readonly state: SubmissionState;
}

/**
 * Judges a refund, in the order of docs/product.md, "Order of refusals". `amount` undefined = all that is left. Returns
 * the refusal, or what may be reserved, minor units. The state of the hold does not matter: a closed one can be
 * refunded, too.
 */
export function judgeRefund(
  hold: HoldState,
  capture: RefundedCapture,
  amount: bigint | undefined,
): RefusalCode | { readonly amount: bigint } {
  if (amount !== undefined && amount > capture.amount) return 'AMOUNT_EXCEEDS_CAPTURE';
  if (capture.state === 'KO') return 'AMOUNT_EXCEEDS_CAPTURE';
  if (capture.state !== 'OK') return 'CAPTURE_NOT_SETTLED';
  if (hold.capabilities?.refunds === false) return 'NOT_SUPPORTED';
  if (hold.frozen) return 'HOLD_FROZEN';
  const left = leftOf(hold, capture);
  const wanted = amount ?? (left > 0n ? left : 1n);
  if (wanted <= left) return { amount: wanted };
  return wanted <= leftWithoutRefunds(hold, capture) ? 'CAPTURE_NOT_SETTLED' : 'AMOUNT_EXCEEDS_CAPTURE';
}

/**
 * Judges a refund that the processor has made already: whatever it says of its abilities, although the hold is frozen
 * since, and whatever was reversed since, because a reversal takes refunded money, too.
 */
export function judgeImportedRefund(
  hold: HoldState,
  capture: RefundedCapture,
  amount: bigint | undefined,
): RefusalCode | { readonly amount: bigint } {
  const then = { ...hold, capabilities: undefined, frozen: false, reversed: 0n };
  return judgeRefund(then, { ...capture, amountReversed: 0n }, amount);
}

/** Settles a reserved refund. */
export function settleRefund(hold: HoldBooks, amount: bigint, ok: boolean): HoldBooks {
  assert(amount <= hold.refunding, 'a refund settles what it reserved');
  const refunded = ok ? hold.refunded + amount : hold.refunded;
  return checked({ ...booksOf(hold), refunding: hold.refunding - amount, refunded });
}

/** Books that a refund, or a part of it, came back: so much can be refunded again. */
export function returnRefund(hold: HoldBooks, amount: bigint): HoldBooks {
  return checked({ ...booksOf(hold), refunded: hold.refunded - amount });
}

/**
 * The amount of a capture that can be refunded: neither reversed, nor refunded, nor reserved by a refund, of this
 * capture and of all captures of its hold. An amount refunded and then reversed leaves nothing, too.
 */
export function leftOf(hold: HoldBooks, capture: ReversedCapture): bigint {
  const { amount, amountReversed, amountRefunded, amountRefunding } = capture;
  const ofAll = hold.captured - hold.reversed - hold.refunded - hold.refunding;
  const ofCapture = amount - (amountReversed ?? 0n) - (amountRefunded ?? 0n) - (amountRefunding ?? 0n);
  return largest(0n, smallest(ofCapture, ofAll));
}

/** The same if the refunds without a result failed. */
export function leftWithoutRefunds(hold: HoldBooks, capture: ReversedCapture): bigint {
  return leftOf({ ...hold, refunding: 0n }, { ...capture, amountRefunding: 0n });
}

const smallest = (a: bigint, b: bigint) => (a < b ? a : b);
const largest = (a: bigint, b: bigint) => (a > b ? a : b);
