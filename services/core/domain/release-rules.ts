/** Releases and expiries: which may be made of a hold, and their effect on its books. Amounts are minor units. */
import assert from 'node:assert/strict';
import { compareAmount, type Left } from './contradiction.ts';
import {
  booksOf,
  checked,
  closed,
  endOf,
  type HoldBooks,
  type HoldState,
  LARGEST_AMOUNT,
  returned,
} from './hold-rules.ts';
import type { RefusalCode } from './refusal.ts';

/** Judges a merchant's release of a placed hold. Returns the refusal, or undefined. */
export function judgeRelease(hold: HoldState, now: Date): RefusalCode | undefined {
  if (hold.phase !== 'AUTHORIZED') return 'HOLD_NOT_PLACED';
  const ended = endOf(hold, now);
  if (ended) return ended;
  if (hold.frozen) return 'HOLD_FROZEN';
  const isBusy = hold.closing || hold.inFlight > 0n || hold.changing === 'INCREMENT';
  return isBusy ? 'CAPTURE_IN_FLIGHT' : undefined;
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
