/** How a kept hold of the model renews itself: docs/product.md, "Kept holds". */
import { type Attempt, newAttempt } from './attempt.ts';
import { booksOf, changeOf, type HoldModel, isClosing, isOver, newAuthorization } from './hold-model.ts';

const DAY_MS = 24 * 3_600_000;

/** Core plans when the hold renews itself, if its authorization is guaranteed for a shorter time than it is needed. */
export function planRenewal(hold: HoldModel, now: number): void {
  const { guaranteedUntil } = hold;
  hold.endRead = false;
  const lead = Math.min(2 * DAY_MS, Math.max(0, guaranteedUntil - now) / 3);
  hold.renewAt = neededUntil(hold) > guaranteedUntil ? Math.round(guaranteedUntil - lead) : 0;
}

/** 0 = it is not kept. */
function neededUntil({ keepUntil, captureAt, releaseAt }: HoldModel): number {
  return keepUntil === 0 ? 0 : Math.min(...[keepUntil, captureAt, releaseAt].filter((at) => at > 0));
}

/** The hold renews itself again this late, if it is needed then. */
function planAgain(hold: HoldModel, at: number): void {
  hold.renewAt = at < neededUntil(hold) ? at : 0;
  hold.endRead = false;
}

/** Whether a worker renews the hold: nothing of it is in flight, and no other renewal is. */
export function isDueToRenew(hold: HoldModel, now: number): boolean {
  if (hold.placing !== 'OK' || hold.closedBy !== undefined || hold.endedAs || isOver(hold, now)) return false;
  if (hold.frozen || hold.renewAt === 0 || hold.renewAt > now || hold.toVoid !== undefined) return false;
  if (hold.keepUntil <= now) return false;
  if (hold.attempts.some(({ kind, state }) => kind === 'RENEWAL' && state === 'OPEN')) return false;
  return isIdle(hold);
}

function isIdle(hold: HoldModel): boolean {
  const { inFlight, remaining } = booksOf(hold);
  return !isClosing(hold) && changeOf(hold) === undefined && inFlight === 0 && remaining > 0;
}

/** Stores a renewal of what remains. */
export function newRenewal(hold: HoldModel, now: number): Attempt {
  const { remaining: amount } = booksOf(hold);
  const on = hold.chain.push(newAuthorization(amount)) - 1;
  return newAttempt({ key: '', kind: 'RENEWAL', on, amount, final: false, now });
}

/**
 * Core learns the result of a renewal. Its authorization becomes the hold's when it is for what remains, and the one
 * before is given back; else it is.
 */
export function settleRenewal(hold: HoldModel, renewal: Attempt, now: number): void {
  const authorization = hold.chain[renewal.on];
  if (renewal.state === 'KO' || !authorization) {
    const isLost = renewal.answer?.code === 'never_received';
    planAgain(hold, now + (isLost ? 60_000 : DAY_MS));
    return;
  }
  const { amount, endsAt, guaranteedUntil } = authorization;
  const isOpen = hold.closedBy === undefined && !hold.endedAs && !hold.frozen && isIdle(hold);
  if (isOpen && amount === renewal.amount && booksOf(hold).remaining === amount) {
    hold.toVoid = hold.present;
    hold.present = renewal.on;
    hold.expiresAt = Math.min(now + hold.periodMs, endsAt);
    hold.guaranteedUntil = Math.min(guaranteedUntil, hold.expiresAt);
    planRenewal(hold, now);
    return;
  }
  renewal.state = 'KO';
  renewal.answer = { answer: 'NOT_PERFORMED', code: 'overtaken' };
  hold.toVoid = renewal.on;
  if (amount !== renewal.amount) planAgain(hold, now + DAY_MS);
}

/** A void of an authorization that the hold does not count on is stored, unless there is one. */
export function giveUp(hold: HoldModel, on: number, now: number): void {
  if (hold.toVoid === on) delete hold.toVoid;
  if (hold.attempts.some((attempt) => attempt.kind === 'LATE' && attempt.on === on && attempt.state !== 'KO')) return;
  hold.attempts.push(newAttempt({ key: '', kind: 'LATE', on, amount: 0, final: false, now }));
}

/** A worker stores the void of what a renewal has left. */
export function voidReplaced(hold: HoldModel, now: number): void {
  if (hold.toVoid !== undefined) giveUp(hold, hold.toVoid, now);
}
