import assert from 'node:assert/strict';
import { type FrozenBecause, waitsForOperator } from './contradiction.ts';
import type { RefusalCode } from './refusal.ts';

export type HoldStatus = 'IN_PROGRESS' | 'PARTIALLY_CAPTURED' | 'CAPTURED' | 'RELEASED' | 'EXPIRED' | 'FAILED';
export type HoldPhase = 'AWAITING_CHECKOUT' | 'AUTHORIZING' | 'UNKNOWN' | 'AUTHORIZED' | 'FAILED' | 'NEEDS_REVIEW';
export type ReleaseReason = 'FINAL' | 'RELEASED' | 'EXPIRED';

/** Of a hold or an operation, minor units. */
export const LARGEST_AMOUNT = 999_999_999_999n;

/** A change of an open hold that neither charges it nor gives it back; one at a time. */
export type Change = 'INCREMENT' | 'EXTENSION';

/** The abilities of one authorization, as its processor states them. False = core does not ask for it. */
export interface Capabilities {
  /** More than one capture. When false, the first one gives the rest back. */
  readonly severalCaptures: boolean;
  readonly increments: boolean;
  readonly extension: boolean;
  readonly refunds: boolean;
  /** Absent = of an authorization from before this was known: false. */
  readonly partialRelease?: boolean;
}

/**
 * The books of a hold. Amounts in minor units. Once placed, amount = captured + inFlight + remaining + released;
 * before, these are 0. The amounts that the card scheme took back, and that refunds gave back, are each at most
 * captured: the scheme may take back an amount that was refunded before.
 */
export interface HoldBooks {
  readonly status: HoldStatus;
  readonly amount: bigint;
  readonly captured: bigint;
  readonly inFlight: bigint;
  readonly remaining: bigint;
  readonly released: bigint;
  readonly reversed: bigint;
  /** The amount refunded, less the refunds that were returned. */
  readonly refunded: bigint;
  /** Reserved by refunds without a result. */
  readonly refunding: bigint;
  readonly releaseReason?: ReleaseReason | null | undefined;
  /** A release, of all or of a part, or a final or sole capture has no result yet. */
  readonly closing: boolean;
  /** An increment or an extension that has no result yet; null or absent = none. */
  readonly changing?: Change | null | undefined;
}

/** The parts of a hold that decide what may be done with it. */
export interface HoldState extends HoldBooks {
  readonly phase: HoldPhase;
  readonly allowMultipleCaptures: boolean;
  readonly frozen: boolean;
  readonly frozenBecause?: FrozenBecause | null | undefined;
  /** Absent = the processor did not say. */
  readonly capabilities?: Capabilities | null | undefined;
  readonly expiresAt?: Date | null | undefined;
  /** An end that the merchant chose, earlier than the period's. */
  readonly releaseAt?: Date | null | undefined;
  /** When what remains is captured by itself, and the capture that did it; absent = none has. */
  readonly captureAt?: Date | null | undefined;
  readonly autoCaptureId?: string | null | undefined;
  /** The authorization ended at the processor by itself, and the rest is booked so; absent = it did not. */
  readonly endedAs?: 'RELEASED' | 'EXPIRED' | null | undefined;
  /** What that end gave back, and the processor's reference of it; null = it was a void of ours, whose amount is in doubt. */
  readonly endedAmount?: bigint | null | undefined;
  readonly endedReference?: string | null | undefined;
}

/** Returns whether a caller gives another currency than the hold's; absent = the hold's. */
export function isOtherCurrency(hold: { readonly currency: string }, currency: string | undefined): boolean {
  return currency !== undefined && currency !== hold.currency;
}

/** The amount that remained of a placed hold: still there, or given back at its end. Minor units. */
export function remainedOf(hold: HoldBooks): bigint {
  return isOpen(hold) ? hold.remaining : hold.released;
}

/**
 * Returns whether a hold can end by itself now, as `reason`: because its period is over, or because its authorization
 * ended at the processor. Not while a capture, release, increment or extension may still succeed, nor while the
 * remaining amount is in doubt.
 */
export function isDueToEnd(hold: HoldState, reason: 'RELEASED' | 'EXPIRED', now: Date): boolean {
  if (hold.phase !== 'AUTHORIZED' || !isOpen(hold) || waitsForOperator(hold)) return false;
  if (hold.inFlight > 0n || hold.closing || hold.changing != null) return false;
  if (hold.endedAs != null) return hold.endedAs === reason;
  return reason === 'EXPIRED' && isOver(hold, now) && !capturesFirst(hold, now);
}

/** Returns whether nothing can be captured any more: nothing is left, and no increment may still add to it. */
export function isUsedUp({ remaining, inFlight, changing }: HoldBooks): boolean {
  return remaining === 0n && inFlight === 0n && changing !== 'INCREMENT';
}

/**
 * Closes a hold of which nothing is left. But a doubtful end that gave something back is still to be told: such a hold
 * stays open until that is settled. Without a capture, releases have given all of it back.
 */
export function endUsedUp({ endedAs, endedAmount, endedReference }: HoldState, books: HoldBooks): HoldBooks {
  if (endedAs != null && endedReference == null && (endedAmount ?? 0n) > 0n) return checked(books);
  return books.captured > 0n ? closed(books, 'CAPTURED', 'FINAL') : closed(books, 'RELEASED', 'RELEASED');
}

/**
 * What the processor gave back when it ended the authorization, after something that was in flight then has ended: when
 * that failed, it was given back besides. Undefined = as before, also when the amount never fitted the books.
 */
export function endedAmountAfter(hold: HoldState, remaining: bigint): bigint | undefined {
  const { endedAmount, endedReference } = hold;
  if (endedAmount == null || endedReference == null) return undefined;
  const fitted = endedAmount >= hold.remaining && endedAmount <= hold.remaining + hold.inFlight;
  return fitted && remaining > endedAmount ? remaining : undefined;
}

/** The books of a hold that was never placed. */
export function failHold(hold: HoldBooks): HoldBooks {
  assert(hold.captured + hold.inFlight + hold.remaining + hold.released === 0n, 'nothing was held');
  return { ...booksOf(hold), status: 'FAILED', closing: false };
}

/** Returns whether the remaining amount can still change. */
export function isOpen(hold: { readonly status: HoldStatus }): boolean {
  return hold.status === 'IN_PROGRESS' || hold.status === 'PARTIALLY_CAPTURED';
}

/**
 * The phase of a hold as callers see it: of a placed one that has ended, CLOSED; of one with a token whose customer is
 * on a page, AWAITING_CUSTOMER.
 */
export function shownPhase(hold: {
  readonly phase: HoldPhase;
  readonly status: HoldStatus;
  readonly tokenId?: string | null | undefined;
}): HoldPhase | 'CLOSED' | 'AWAITING_CUSTOMER' {
  if (hold.phase === 'AWAITING_CHECKOUT' && hold.tokenId != null) return 'AWAITING_CUSTOMER';
  return hold.phase === 'AUTHORIZED' && !isOpen(hold) ? 'CLOSED' : hold.phase;
}

/** Returns whether the period, or the earlier end that the merchant chose, is over. */
function isOver({ expiresAt, releaseAt }: HoldState, now: Date): boolean {
  return (expiresAt != null && expiresAt <= now) || (releaseAt != null && releaseAt <= now);
}

/**
 * Returns whether the automatic capture comes before the end: it fell due first, and was not tried yet. A hold that is
 * frozen, or can never be captured again, ends.
 */
export function capturesFirst(hold: HoldState, now: Date): boolean {
  const { captureAt, autoCaptureId, endedAs, frozen, captured, capabilities } = hold;
  if (captureAt == null || captureAt > now || isOver(hold, captureAt)) return false;
  const isOnlyOne = capabilities?.severalCaptures === false && captured > 0n;
  return autoCaptureId == null && endedAs == null && !frozen && !isOnlyOne && hold.remaining + hold.inFlight > 0n;
}

/**
 * Why a placed hold has ended, by state or by time. Time is judged at the request, not only by the sweeper; while the
 * hold is to capture by itself before its end, that is in flight.
 */
export function endOf(hold: HoldState, now: Date): RefusalCode | undefined {
  // Nobody is told of the end while the remaining amount is in doubt.
  if (isOpen(hold) && waitsForOperator(hold)) return undefined;
  if (isOpen(hold) && hold.endedAs != null) return hold.endedAs === 'EXPIRED' ? 'HOLD_EXPIRED' : 'HOLD_RELEASED';
  if (isOpen(hold) && !isOver(hold, now)) return undefined;
  if (isOpen(hold)) return capturesFirst(hold, now) ? 'CAPTURE_IN_FLIGHT' : 'HOLD_EXPIRED';
  if (hold.releaseReason === 'EXPIRED') return 'HOLD_EXPIRED';
  if (hold.releaseReason === 'RELEASED' || hold.status === 'RELEASED') return 'HOLD_RELEASED';
  return 'HOLD_CAPTURED';
}

export function returned(books: HoldBooks, amount: bigint): HoldBooks {
  return isOpen(books)
    ? checked({ ...books, remaining: books.remaining + amount })
    : checked({ ...books, released: books.released + amount, releaseReason: books.releaseReason ?? 'FINAL' });
}

export function closed(books: HoldBooks, status: HoldStatus, reason: ReleaseReason): HoldBooks {
  const released = books.released + books.remaining;
  return checked({ ...books, status, remaining: 0n, released, releaseReason: released > 0n ? reason : null });
}

/** Copies the books out of an object that has them. */
export function booksOf(hold: HoldBooks): HoldBooks {
  return {
    status: hold.status,
    amount: hold.amount,
    captured: hold.captured,
    inFlight: hold.inFlight,
    remaining: hold.remaining,
    released: hold.released,
    reversed: hold.reversed,
    refunded: hold.refunded,
    refunding: hold.refunding,
    releaseReason: hold.releaseReason ?? null,
    closing: hold.closing,
    changing: hold.changing ?? null,
  };
}

/** Asserts the invariants of the books; the database checks them again. */
export function checked(books: HoldBooks): HoldBooks {
  const { amount, captured, inFlight, remaining, released, reversed, refunded, refunding } = books;
  assert(amount === captured + inFlight + remaining + released, 'the books balance');
  assert(captured >= 0n && inFlight >= 0n && remaining >= 0n && released >= 0n && reversed >= 0n);
  assert(refunded >= 0n && refunding >= 0n);
  assert(reversed <= captured, 'no more is taken back than was captured');
  assert(refunded + refunding <= captured, 'no more is refunded than was captured');
  return books;
}
