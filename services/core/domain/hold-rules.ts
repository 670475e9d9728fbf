import assert from 'node:assert/strict';
import { differs, endsLater, type FrozenBecause, type Left } from './contradiction.ts';
import type { RefusalCode } from './refusal.ts';

export type HoldStatus = 'IN_PROGRESS' | 'PARTIALLY_CAPTURED' | 'CAPTURED' | 'RELEASED' | 'EXPIRED' | 'FAILED';
export type HoldPhase = 'AWAITING_CHECKOUT' | 'AUTHORIZING' | 'UNKNOWN' | 'AUTHORIZED' | 'FAILED' | 'NEEDS_REVIEW';
export type ReleaseReason = 'FINAL' | 'RELEASED' | 'EXPIRED';

/** A change of an open hold that neither charges it nor gives it back; one at a time. */
export type Change = 'INCREMENT' | 'EXTENSION';

/** The abilities of one authorization, as its processor states them. False = core does not ask for it. */
export interface Capabilities {
  /** More than one capture. When false, the first one gives the rest back. */
  readonly severalCaptures: boolean;
  readonly increments: boolean;
  readonly extension: boolean;
  readonly refunds: boolean;
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
  /** A release, a final or a sole capture has no result yet. */
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
}

/** Returns whether a caller gives another currency than the hold's; absent = the hold's. */
export function isOtherCurrency(hold: { readonly currency: string }, currency: string | undefined): boolean {
  return currency !== undefined && currency !== hold.currency;
}

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

/** The amount that remained of a placed hold: still there, or given back at its end. Minor units. */
export function remainedOf(hold: HoldBooks): bigint {
  return isOpen(hold) ? hold.remaining : hold.released;
}

/** Judges a merchant's release of a placed hold. Returns the refusal, or undefined. */
export function judgeRelease(hold: HoldState, now: Date): RefusalCode | undefined {
  if (hold.phase !== 'AUTHORIZED') return 'HOLD_NOT_PLACED';
  const ended = endOf(hold, now);
  if (ended) return ended;
  if (hold.frozen) return 'HOLD_FROZEN';
  const isBusy = hold.closing || hold.inFlight > 0n || hold.changing === 'INCREMENT';
  return isBusy ? 'CAPTURE_IN_FLIGHT' : undefined;
}

/** Judges an increment, in the order of docs/product.md, "Order of refusals". Returns the refusal, or undefined. */
export function judgeIncrement(hold: HoldState, amount: bigint, now: Date): RefusalCode | undefined {
  if (hold.amount + amount > LARGEST_AMOUNT) return 'AMOUNT_TOO_LARGE';
  return judgeChange(hold, 'increments', now);
}

const LARGEST_AMOUNT = 999_999_999_999n;

/** Judges an extension. Returns the refusal, or undefined. */
export function judgeExtension(hold: HoldState, now: Date): RefusalCode | undefined {
  return judgeChange(hold, 'extension', now);
}

function judgeChange(hold: HoldState, ability: 'increments' | 'extension', now: Date): RefusalCode | undefined {
  if (hold.phase !== 'AUTHORIZED') return 'HOLD_NOT_PLACED';
  const ended = endOf(hold, now);
  if (ended) return ended;
  if (hold.capabilities?.[ability] === false) return 'NOT_SUPPORTED';
  if (hold.frozen) return 'HOLD_FROZEN';
  // When captures under way take all that is left, the authorization may be closed by now.
  const isBusy = hold.closing || hold.changing != null || hold.remaining === 0n;
  return isBusy ? 'CAPTURE_IN_FLIGHT' : undefined;
}

/**
 * Returns whether a hold can end by itself now, as `reason`: because its period is over, or because its authorization
 * ended at the processor. Not while a capture, release, increment or extension may still succeed, nor while the
 * remaining amount is in doubt.
 */
export function isDueToEnd(hold: HoldState, reason: 'RELEASED' | 'EXPIRED', now: Date): boolean {
  if (hold.phase !== 'AUTHORIZED' || !isOpen(hold) || endsLater(hold)) return false;
  if (hold.inFlight > 0n || hold.closing || hold.changing != null) return false;
  if (hold.endedAs != null) return hold.endedAs === reason;
  return reason === 'EXPIRED' && isOver(hold, now) && !capturesFirst(hold, now);
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
  if (givenBack !== undefined && left && differs(givenBack, left) === 'LESS') {
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

/** Returns whether nothing can be captured any more: nothing is left, and no increment may still add to it. */
function isUsedUp({ remaining, inFlight, changing }: HoldBooks): boolean {
  return remaining === 0n && inFlight === 0n && changing !== 'INCREMENT';
}

/**
 * Settles an increment. What it added to a hold that has closed meanwhile was given back with the rest. But when it is
 * imported, and all of the hold was captured before, no rest was given back: then the hold opens again. When it adds
 * nothing to a hold of which all was captured, or given back, meanwhile, the hold closes.
 */
export function settleIncrement(hold: HoldState, amount: bigint, ok: boolean, imported = false): HoldBooks {
  const books = { ...booksOf(hold), changing: null };
  const opens = imported && hold.captured === hold.amount && hold.allowMultipleCaptures;
  const status = opens ? 'PARTIALLY_CAPTURED' : hold.status;
  if (ok) return returned({ ...books, status, amount: hold.amount + amount }, amount);
  return isOpen(hold) && isUsedUp(books) ? endUsedUp(hold, books) : checked(books);
}

/**
 * Closes a hold of which nothing is left. But an end that gave something back is still to be told: such a hold stays
 * open until that is settled. Without a capture, a release has given all of it back.
 */
function endUsedUp({ endedAs }: HoldState, books: HoldBooks): HoldBooks {
  if (endedAs != null && books.released > 0n) return checked(books);
  return books.captured > 0n ? closed(books, 'CAPTURED', 'FINAL') : closed(books, 'RELEASED', 'RELEASED');
}

/** Settles an extension, which moves no money. */
export function settleExtension(hold: HoldState): HoldBooks {
  return checked({ ...booksOf(hold), changing: null });
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
  if (givenBack !== undefined && differs(givenBack, leftByRelease(hold, release)) === 'LESS') {
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

/** Books a reversal, which gives nothing back to remaining. */
export function reverse(hold: HoldBooks, amount: bigint): HoldBooks {
  return checked({ ...booksOf(hold), reversed: hold.reversed + amount });
}

/** Books that a reversal, or a part of it, was undone. */
export function reinstate(hold: HoldBooks, amount: bigint): HoldBooks {
  return checked({ ...booksOf(hold), reversed: hold.reversed - amount });
}

/** A capture of which something may have been taken back or refunded. Minor units. */
export interface ReversedCapture {
  readonly amount: bigint;
  /** The amount taken back and not given again. */
  readonly amountReversed?: bigint | null | undefined;
  readonly amountRefunded?: bigint | null | undefined;
  /** Reserved by refunds without a result. */
  readonly amountRefunding?: bigint | null | undefined;
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

/** Returns whether the period, or the earlier end that the merchant chose, is over. */
function isOver({ expiresAt, releaseAt }: HoldState, now: Date): boolean {
  return (expiresAt != null && expiresAt <= now) || (releaseAt != null && releaseAt <= now);
}

/**
 * Returns whether the automatic capture comes before the end: it fell due first, and was not tried yet. A hold that is
 * frozen, or can never be captured again, ends.
 */
function capturesFirst(hold: HoldState, now: Date): boolean {
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
  if (isOpen(hold) && endsLater(hold)) return undefined;
  if (isOpen(hold) && hold.endedAs != null) return hold.endedAs === 'EXPIRED' ? 'HOLD_EXPIRED' : 'HOLD_RELEASED';
  if (isOpen(hold) && !isOver(hold, now)) return undefined;
  if (isOpen(hold)) return capturesFirst(hold, now) ? 'CAPTURE_IN_FLIGHT' : 'HOLD_EXPIRED';
  if (hold.releaseReason === 'EXPIRED') return 'HOLD_EXPIRED';
  if (hold.releaseReason === 'RELEASED' || hold.status === 'RELEASED') return 'HOLD_RELEASED';
  return 'HOLD_CAPTURED';
}

function returned(books: HoldBooks, amount: bigint): HoldBooks {
  return isOpen(books)
    ? checked({ ...books, remaining: books.remaining + amount })
    : checked({ ...books, released: books.released + amount, releaseReason: books.releaseReason ?? 'FINAL' });
}

function closed(books: HoldBooks, status: HoldStatus, reason: ReleaseReason): HoldBooks {
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
