/** Holds for tests of their rules. */
import { booksOf, type HoldBooks, type HoldState } from '../../../../services/core/domain/hold-rules.ts';

/** A hold once it is placed. */
export function openHold(amount: bigint): HoldBooks {
  const nothing = { captured: 0n, inFlight: 0n, released: 0n, reversed: 0n, refunded: 0n, refunding: 0n };
  return { status: 'IN_PROGRESS', amount, ...nothing, remaining: amount, closing: false };
}

/** What storing a capture makes of its hold (store-submissions.ts). */
export function reserveCapture(hold: HoldState, amount: bigint, finalCapture: boolean): HoldBooks {
  const closing = finalCapture || !hold.allowMultipleCaptures;
  return { ...booksOf(hold), remaining: hold.remaining - amount, inFlight: hold.inFlight + amount, closing };
}

/** What storing a release makes of its hold. */
export function reserveRelease(hold: HoldState): HoldBooks {
  return { ...booksOf(hold), remaining: 0n, inFlight: hold.remaining, closing: true };
}

/** What storing a release of a part makes of its hold. */
export function reservePart(hold: HoldState, amount: bigint): HoldBooks {
  return { ...booksOf(hold), remaining: hold.remaining - amount, inFlight: hold.inFlight + amount, closing: true };
}

export const ABLE = { severalCaptures: true, increments: true, extension: true, refunds: true, partialRelease: true };
export const NOW = new Date('2027-01-01T00:00:00Z');
export const NEVER_PLACED: HoldBooks = { ...openHold(100n), remaining: 0n };
export const TERMS = { phase: 'AUTHORIZED', frozen: false, expiresAt: new Date('2027-01-08T00:00:00Z') } as const;
export const several = (books: HoldBooks = openHold(100n)): HoldState => ({
  ...TERMS,
  ...books,
  allowMultipleCaptures: true,
});
export const sole = (books: HoldBooks = openHold(100n)): HoldState => ({
  ...TERMS,
  ...books,
  allowMultipleCaptures: false,
});
