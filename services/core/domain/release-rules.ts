/** Releases, of all or of a part, and expiries: which may be made of a hold, and their effect. Amounts are minor units. */
import assert from 'node:assert/strict';
import { compareAmount, type Left } from './contradiction.ts';
import {
  booksOf,
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

/** Judges a merchant's release of a placed hold of which `amount` remained when it was asked. Returns the refusal. */
export function judgeRelease(hold: HoldState, now: Date, amount = hold.remaining): RefusalCode | undefined {
  if (hold.phase !== 'AUTHORIZED') return 'HOLD_NOT_PLACED';
  const ended = endOf(hold, now);
  if (ended) return ended;
  if (hold.frozen) return 'HOLD_FROZEN';
  return isBusy(hold) || amount !== hold.remaining ? 'CAPTURE_IN_FLIGHT' : undefined;
}

/** Judges the release of a part, in the order of docs/product.md, "Order of refusals". */
export function judgePartialRelease(hold: HoldState, amount: bigint, now: Date): RefusalCode | undefined {
  if (amount > hold.amount) return 'AMOUNT_EXCEEDS_HOLD';
  if (hold.phase !== 'AUTHORIZED') return 'HOLD_NOT_PLACED';
  const ended = endOf(hold, now);
  if (ended) return ended;
  if (hold.capabilities?.partialRelease !== true) return 'NOT_SUPPORTED';
  if (hold.frozen) return 'HOLD_FROZEN';
  // It was a part when it was asked, and is all that remains by now.
  if (isBusy(hold) || amount === hold.remaining) return 'CAPTURE_IN_FLIGHT';
  return amount > hold.remaining ? 'AMOUNT_EXCEEDS_HOLD' : undefined;
}

function isBusy({ closing, inFlight, changing }: HoldState): boolean {
  return closing || inFlight > 0n || changing === 'INCREMENT';
}

/** Judges the import of a partial release that the processor has done: of a hold that has ended it is released already. */
export function judgeImportedPart(hold: HoldState, amount: bigint): RefusalCode | undefined {
  if (hold.phase !== 'AUTHORIZED') return 'HOLD_NOT_PLACED';
  if (hold.closing) return 'CAPTURE_IN_FLIGHT';
  return amount > (isOpen(hold) ? hold.remaining : hold.released) ? 'AMOUNT_EXCEEDS_HOLD' : undefined;
}

/** Settles a reserved release of a part. One that took all that was left closes the hold: it was imported. */
export function settlePartialRelease(hold: HoldState, amount: bigint, ok: boolean): HoldBooks {
  assert(amount <= hold.inFlight, 'a release settles what it reserved');
  const books = { ...booksOf(hold), inFlight: hold.inFlight - amount, closing: false };
  if (!ok || !isOpen(hold)) return returned(books, amount);
  const released = { ...books, released: hold.released + amount };
  return isUsedUp(released) ? endUsedUp(hold, released) : checked(released);
}

/**
 * Settles a reserved release or expiry. What a void did not give back remains: it may have been charged. What is left
 * when the processor has ended the authorization counts as given back.
 */
export function settleRelease(hold: HoldState, release: ReservedRelease, ok: boolean): HoldBooks {
  const { amount, reason, givenBack } = release;
  assert(amount <= hold.inFlight, 'a release settles what it reserved');
  const books = { ...booksOf(hold), inFlight: hold.inFlight - amount, closing: false };
  if (!ok) return returned(books, amount);
  const rest = amount + hold.remaining;
  if (givenBack !== undefined && compareAmount(givenBack, leftByRelease(hold, release)) === 'LESS') {
    return checked({ ...books, released: hold.released + givenBack, remaining: rest - givenBack });
  }
  const released = { ...books, released: hold.released + amount };
  return closed(released, hold.captured > 0n ? 'CAPTURED' : reason, reason);
}

/** A release as it was reserved, and what the processor says that it gave back, minor units; undefined = not said. */
export interface ReservedRelease {
  readonly amount: bigint;
  readonly reason: 'RELEASED' | 'EXPIRED';
  /** The processor ended the authorization by itself, and reported it. */
  readonly reported: boolean;
  readonly givenBack?: bigint | undefined;
}

/** The amount that a successful void must have given back; any amount for a reported one, which was compared before. */
export function leftByRelease(hold: HoldBooks, { amount, reported }: ReservedRelease): Left {
  const rest = amount + hold.remaining;
  return reported ? { least: 0n, most: LARGEST_AMOUNT } : { least: rest, most: rest };
}
