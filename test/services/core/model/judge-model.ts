/** What the model refuses, in the order of docs/product.md, "Order of refusals". */
import { type Ability, isAble } from '../../../../services/sandbox/behaviour.ts';
import { type Attempt, isLost } from './attempt.ts';
import {
  amountOf,
  booksOf,
  capturesFirst,
  changeOf,
  type HoldModel,
  isClosing,
  isOver,
  isPast,
  MOST_TRIES,
  mayCaptureAgain,
  type Terms,
  waitsAtPage,
} from './hold-model.ts';

export function judgeCapture(hold: HoldModel, amount: number, final: boolean, now: number): string | undefined {
  if (amount > amountOf(hold)) return 'AMOUNT_EXCEEDS_HOLD';
  if (hold.placing !== 'OK') return 'HOLD_NOT_PLACED';
  const ended = endOf(hold, now);
  if (ended !== undefined && ended !== 'HOLD_CAPTURED') return ended;
  return judgeOpen(hold, amount, final, ended);
}

function judgeOpen(hold: HoldModel, amount: number, final: boolean, ended: string | undefined): string | undefined {
  const { captured, remaining, inFlight } = booksOf(hold);
  if (!hold.several && captured > 0) return 'MULTIPLE_CAPTURES_NOT_ALLOWED';
  if (ended) return ended;
  const leavesOpen = hold.several && !final && amount < remaining + inFlight;
  if (isCapturedOnce(hold) && (captured > 0 || leavesOpen)) return 'NOT_SUPPORTED';
  if (hold.frozen) return 'HOLD_FROZEN';
  const closes = final || !hold.several || isCapturedOnce(hold);
  if (isClosing(hold) || (closes && changeOf(hold) === 'INCREMENT')) return 'CAPTURE_IN_FLIGHT';
  if (amount <= remaining) return undefined;
  return amount <= remaining + inFlight ? 'CAPTURE_IN_FLIGHT' : 'AMOUNT_EXCEEDS_HOLD';
}

/** Whether the hold captures by itself what remains: once, and again when that never arrived, three times at most. */
export function isDueToCapture(hold: HoldModel, now: number): boolean {
  const { inFlight, remaining } = booksOf(hold);
  if (!isPast(hold.captureAt, now) || !mayCaptureAgain(hold) || inFlight > 0) return false;
  if (hold.placing === 'OK' && capturesFirst(hold, now))
    return judgeOpen(hold, remaining, true, undefined) === undefined;
  return judgeCapture(hold, remaining, true, now) === undefined;
}

/** Whether a worker releases a hold that was renewed: a few times when that never arrived. */
export function isDueToRelease(hold: HoldModel, now: number): boolean {
  const lost = hold.attempts.filter((attempt) => attempt.kind === 'RELEASED' && isLost(attempt));
  return hold.renewal === 'WAITS' && lost.length < MOST_TRIES && !judgeRelease(hold, now);
}

/** Whether the merchant may change when the hold captures by itself, and when it ends. */
export function judgeUpdate(hold: HoldModel, asked: Partial<Terms>, now: number): string | undefined {
  if (hold.placing === 'KO') return 'HOLD_NOT_PLACED';
  const ended = hold.placing === 'OK' ? endOf(hold, now) : undefined;
  if (ended && ended !== 'CAPTURE_IN_FLIGHT') return ended;
  const { captureAt, releaseAt, keepUntil } = { ...hold, ...asked };
  const hasFallenDue = (name: 'captureAt' | 'releaseAt') => isPast(hold[name], now);
  const names = ['captureAt', 'releaseAt'] as const;
  if (names.some((name) => hasFallenDue(name) && asked[name] !== undefined)) return 'TIME_OUT_OF_RANGE';
  if (hold.byCheckout && asked.keepUntil) return 'INVALID_REQUEST';
  if (asked.keepUntil && (keepUntil <= now || keepUntil > now + LONGEST_KEPT_MS)) return 'TIME_OUT_OF_RANGE';
  const periodEnd = hold.placing === 'OK' ? hold.expiresAt : hold.createdAt + hold.periodMs;
  const last = Math.max(periodEnd, keepUntil);
  const end = releaseAt > 0 ? Math.min(releaseAt, last) : last;
  const isWrong = (name: 'captureAt' | 'releaseAt', at: number, before: number) =>
    !hasFallenDue(name) && at > 0 && (at <= now || at >= before);
  return isWrong('captureAt', captureAt, end) || isWrong('releaseAt', releaseAt, last)
    ? 'TIME_OUT_OF_RANGE'
    : undefined;
}

const LONGEST_KEPT_MS = 90 * 24 * 3_600_000;

/** Whether the merchant may renew the hold, for an amount, or (0) for what remained. */
export function judgeRenewal(hold: HoldModel, amount: number): string | undefined {
  if (hold.placing !== 'OK') return 'HOLD_NOT_PLACED';
  // Checkouts generate no tokens here.
  if (hold.byCheckout) return 'NOT_SUPPORTED';
  if (hold.frozen) return 'HOLD_FROZEN';
  if (amount > 0 || remainedOf(hold) > 0) return undefined;
  return booksOf(hold).inFlight > 0 ? 'CAPTURE_IN_FLIGHT' : 'HOLD_CAPTURED';
}

/** What is left of an open hold, or was given back of one that has ended. */
export function remainedOf(hold: HoldModel): number {
  const { remaining, left } = booksOf(hold);
  return remaining + left;
}

/** What is refunded of a capture; with those that have no result yet, what is reserved, too. */
export function refundedOf(hold: HoldModel, key: string, states: readonly Attempt['state'][]): number {
  const refunds = hold.attempts.filter(
    ({ kind, of, state }) => kind === 'REFUND' && of === key && states.includes(state),
  );
  return refunds.reduce((sum, { amount, returned }) => sum + amount - returned, 0);
}

/** Refunds of what the card scheme reverses are not played. */
export function judgeRefund(hold: HoldModel, key: string, amount: number): string | undefined {
  const capture = hold.attempts.find((attempt) => attempt.key === key);
  if (!capture) return 'CAPTURE_NOT_FOUND';
  if (amount > capture.amount || capture.state === 'KO') return 'AMOUNT_EXCEEDS_CAPTURE';
  if (capture.state === 'OPEN') return 'CAPTURE_NOT_SETTLED';
  if (!isAble(hold.token, 'refunds')) return 'NOT_SUPPORTED';
  if (hold.frozen) return 'HOLD_FROZEN';
  if (amount <= capture.amount - refundedOf(hold, key, ['OK', 'OPEN'])) return undefined;
  return amount <= capture.amount - refundedOf(hold, key, ['OK']) ? 'CAPTURE_NOT_SETTLED' : 'AMOUNT_EXCEEDS_CAPTURE';
}

/** Whether the processor allows only one capture of this authorization. */
export function isCapturedOnce({ token }: HoldModel): boolean {
  return !isAble(token, 'severalCaptures');
}

/** Whether the merchant may release the rest, or cancel the checkout. */
export function judgeRelease(hold: HoldModel, now: number): string | undefined {
  if (waitsAtPage(hold) && hold.placing === 'OPEN') return isClosing(hold) ? 'CAPTURE_IN_FLIGHT' : undefined;
  if (hold.placing !== 'OK') return 'HOLD_NOT_PLACED';
  const busy = isClosing(hold) || booksOf(hold).inFlight > 0 || changeOf(hold) === 'INCREMENT';
  return endOf(hold, now) ?? (hold.frozen ? 'HOLD_FROZEN' : busy ? 'CAPTURE_IN_FLIGHT' : undefined);
}

/**
 * Whether the merchant may release a part, or all that remained when it was asked (`whole`). What seemed to be the one
 * and is the other by now is to be asked again.
 */
export function judgePart(hold: HoldModel, amount: number, whole: boolean, now: number): string | undefined {
  const { remaining, inFlight } = booksOf(hold);
  if (whole) return judgeRelease(hold, now) ?? (amount === remaining ? undefined : 'CAPTURE_IN_FLIGHT');
  if (amount > amountOf(hold)) return 'AMOUNT_EXCEEDS_HOLD';
  if (hold.placing !== 'OK') return 'HOLD_NOT_PLACED';
  const ended = endOf(hold, now);
  if (ended) return ended;
  if (!isAble(hold.token, 'partialRelease')) return 'NOT_SUPPORTED';
  if (hold.frozen) return 'HOLD_FROZEN';
  const busy = isClosing(hold) || inFlight > 0 || changeOf(hold) === 'INCREMENT';
  if (busy || amount === remaining) return 'CAPTURE_IN_FLIGHT';
  return amount > remaining ? 'AMOUNT_EXCEEDS_HOLD' : undefined;
}

/** Whether the merchant may add to the hold, or let it end later. */
export function judgeChange(hold: HoldModel, ability: Ability, now: number): string | undefined {
  if (hold.placing !== 'OK') return 'HOLD_NOT_PLACED';
  const ended = endOf(hold, now);
  if (ended) return ended;
  if (!isAble(hold.token, ability)) return 'NOT_SUPPORTED';
  if (hold.frozen) return 'HOLD_FROZEN';
  const busy = isClosing(hold) || changeOf(hold) !== undefined || booksOf(hold).remaining === 0;
  return busy ? 'CAPTURE_IN_FLIGHT' : undefined;
}

function endOf(hold: HoldModel, now: number): string | undefined {
  if (hold.closedBy === undefined) {
    if (hold.endedAs) return hold.endedAs === 'EXPIRED' ? 'HOLD_EXPIRED' : 'HOLD_RELEASED';
    if (!isOver(hold, now)) return undefined;
    return capturesFirst(hold, now) ? 'CAPTURE_IN_FLIGHT' : 'HOLD_EXPIRED';
  }
  const { released } = booksOf(hold);
  if (hold.closedBy === 'FINAL' || released === 0) return 'HOLD_CAPTURED';
  return hold.closedBy === 'EXPIRED' ? 'HOLD_EXPIRED' : 'HOLD_RELEASED';
}
