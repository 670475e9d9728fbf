/** Captures: which may be made of a hold, and their effect on its books. Amounts are minor units. */
import assert from 'node:assert/strict';
import { compareAmount, type Left } from './contradiction.ts';
import {
  booksOf,
  capturesFirst,
  checked,
  closed,
  endOf,
  endUsedUp,
  type HoldBooks,
  type HoldState,
  isOpen,
  isUsedUp,
  LARGEST_AMOUNT,
  returned,
} from './hold-rules.ts';
import type { RefusalCode } from './refusal.ts';

/** Judges a capture, in the order of docs/product.md, "Order of refusals". Returns the refusal, or undefined. */
export function judgeCapture(hold: HoldState, capture: AskedCapture, now: Date): RefusalCode | undefined {
  return judgeUnless(endOf(hold, now), hold, capture);
}

interface AskedCapture {
  readonly amount: bigint;
  readonly finalCapture: boolean;
}

function judgeUnless(
  ended: RefusalCode | undefined,
  hold: HoldState,
  { amount, finalCapture }: AskedCapture,
): RefusalCode | undefined {
  if (amount > hold.amount) return 'AMOUNT_EXCEEDS_HOLD';
  if (hold.phase !== 'AUTHORIZED') return 'HOLD_NOT_PLACED';
  if (ended === 'HOLD_CAPTURED' && !hold.allowMultipleCaptures) return 'MULTIPLE_CAPTURES_NOT_ALLOWED';
  if (ended) return ended;
  // It was captured once without being closed: the amount to give back is in doubt, or was.
  if (!hold.allowMultipleCaptures && hold.captured > 0n) return 'MULTIPLE_CAPTURES_NOT_ALLOWED';
  const isOnlyOne = hold.capabilities?.severalCaptures === false;
  const leavesOpen = hold.allowMultipleCaptures && !finalCapture && amount < hold.remaining + hold.inFlight;
  if (isOnlyOne && (hold.captured > 0n || leavesOpen)) return 'NOT_SUPPORTED';
  if (hold.frozen) return 'HOLD_FROZEN';
  // An increment must not reach an authorization that is closed.
  const closes = finalCapture || !hold.allowMultipleCaptures || isOnlyOne;
  if (hold.closing || (closes && hold.changing === 'INCREMENT')) return 'CAPTURE_IN_FLIGHT';
  if (amount <= hold.remaining) return undefined;
  return amount <= hold.remaining + hold.inFlight ? 'CAPTURE_IN_FLIGHT' : 'AMOUNT_EXCEEDS_HOLD';
}

/**
 * Judges the automatic capture of the remaining amount at captureAt, once. It waits for captures in flight. Returns the
 * refusal, or undefined when it may be reserved.
 */
export function judgeAutoCapture(hold: HoldState, now: Date): RefusalCode | undefined {
  const ended = capturesFirst(hold, now) ? undefined : endOf(hold, now);
  const refusal = judgeUnless(ended, hold, { amount: hold.remaining, finalCapture: true });
  if (refusal) return refusal;
  const isDue = hold.captureAt != null && hold.captureAt <= now && hold.autoCaptureId == null;
  return isDue && hold.inFlight === 0n ? undefined : 'CAPTURE_IN_FLIGHT';
}

/**
 * Settles a reserved capture. A successful capture closes the hold when it is the only one, the final one, or takes the
 * last of the amount; and when the processor gave the rest back unasked, since no other is possible then. When it gave
 * back less than the rest, the missing part remains. A hold that had ended without a capture becomes captured.
 */
export function settleCapture(hold: HoldState, capture: ReservedCapture, ok: boolean): HoldBooks {
  const { amount, givenBack } = capture;
  assert(amount <= hold.inFlight, 'a capture settles what it reserved');
  const isMeantToClose = closesHold(hold, capture);
  const closes = isMeantToClose || (givenBack ?? 0n) > 0n;
  const closing = isMeantToClose ? false : hold.closing;
  const inFlight = hold.inFlight - amount;
  if (!ok) return returned({ ...booksOf(hold), inFlight, closing }, amount);
  const captured = hold.captured + amount;
  const books = { ...booksOf(hold), captured, inFlight, closing };
  if (!isOpen(hold)) {
    return checked({ ...books, status: 'CAPTURED', releaseReason: books.released > 0n ? books.releaseReason : null });
  }
  const left = leftByCapture(hold, capture);
  if (givenBack !== undefined && left && compareAmount(givenBack, left) === 'LESS') {
    const released = hold.released + givenBack;
    return checked({ ...books, status: 'PARTIALLY_CAPTURED', released, remaining: hold.remaining - givenBack });
  }
  const open = { ...books, status: 'PARTIALLY_CAPTURED' } as const;
  if (closes) return closed(open, 'CAPTURED', books.remaining === 0n ? (hold.endedAs ?? 'FINAL') : 'FINAL');
  return isUsedUp(books) ? endUsedUp(hold, open) : checked(open);
}

/** A capture as it was reserved, and what the processor says that it gave back, minor units; undefined = not said. */
export interface ReservedCapture {
  readonly amount: bigint;
  readonly finalCapture: boolean;
  readonly givenBack?: bigint | undefined;
}

function closesHold(hold: HoldState, { finalCapture }: ReservedCapture): boolean {
  return finalCapture || !hold.allowMultipleCaptures;
}

/**
 * The amount that a successful capture must have given back: all that is left when it closes its hold; else nothing, or
 * all that is left. Undefined = any amount, because none was stated, or the hold has ended.
 */
export function leftByCapture(hold: HoldState, capture: ReservedCapture): Left | undefined {
  const { amount, givenBack } = capture;
  if (givenBack === undefined || !isOpen(hold)) return undefined;
  if (!closesHold(hold, capture) && givenBack === 0n) return undefined;
  // The amount of an increment without a result may have been given back with the rest.
  const most = hold.changing === 'INCREMENT' ? LARGEST_AMOUNT : hold.remaining + hold.inFlight - amount;
  return { least: hold.remaining, most };
}
