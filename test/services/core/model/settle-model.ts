/** What core learns of a hold of the model: results, and ends of its authorizations. */
import { type Answer, APPROVED, type Attempt, newAttempt } from './attempt.ts';
import { type Authorization, booksOf, changeOf, closedPage, type HoldModel, isDue, renewalOf } from './hold-model.ts';
import { giveUp, planRenewal, settleRenewal } from './kept-model.ts';

/**
 * Core learns of the ends of authorizations. After that of the one that the hold counts on no further capture is
 * possible, and the hold ends when nothing is in flight.
 */
export function tellEnds(hold: HoldModel, now: number): void {
  for (const [index, authorization] of hold.chain.entries()) {
    if (authorization.endEvent === 'NONE' || !authorization.endedThere) continue;
    const isOpen = index === 0 ? hold.placing === 'OPEN' : renewalOf(hold, index)?.state === 'OPEN';
    authorization.endEvent = isOpen ? 'REFUSED' : 'NONE';
    if (isOpen || hold.placing !== 'OK' || hold.closedBy !== undefined) continue;
    if (index === hold.present) hold.endedAs ??= authorization.endedThere;
    if (hold.endedAs && isDue(hold, now)) settle(hold, reportedEnd(hold, now), APPROVED, now);
  }
}

/** An end of the hold that core did not request is complete once reserved. */
export function reportedEnd(hold: HoldModel, now: number): Attempt {
  const kind = hold.endedAs ?? 'EXPIRED';
  const { remaining: amount } = booksOf(hold);
  const attempt = newAttempt({ key: '', kind, on: hold.present, amount, final: true, now });
  hold.attempts.push(attempt);
  attempt.truth = APPROVED;
  return attempt;
}

/** Core learns the result of the placing; the first result stays, and an approval for a failed hold is voided. */
export function settlePlacing(hold: HoldModel, answer: Answer, now: number): void {
  if (hold.placing === 'KO' && answer.answer === 'APPROVED') giveUp(hold, 0, now);
  if (hold.placing !== 'OPEN') return;
  hold.answer = answer;
  hold.placing = answer.answer === 'APPROVED' ? 'OK' : 'KO';
  hold.runningUntil = 0;
  const [{ endsAt, guaranteedUntil }] = hold.chain as [Authorization];
  hold.expiresAt = Math.min(now + hold.periodMs, endsAt);
  hold.guaranteedUntil = Math.min(guaranteedUntil, hold.expiresAt);
  planRenewal(hold, now);
}

/** Core learns the result of an attempt. */
export function settle(hold: HoldModel, attempt: Attempt, answer: Answer, now: number): void {
  if (attempt.state !== 'OPEN') return;
  const done =
    answer.answer === 'APPROVED' || ((attempt.kind === 'EXPIRED' || attempt.kind === 'LATE') && GONE.test(answer.code));
  attempt.answer = done ? { answer: 'APPROVED', code: '' } : answer;
  attempt.state = done ? 'OK' : 'KO';
  attempt.runningUntil = 0;
  if (attempt.kind === 'CAPTURE') closeByCapture(hold, attempt);
  else if (attempt.kind === 'INCREMENT') closeUsedUp(hold);
  else if (attempt.kind === 'EXTENSION') extendBy(hold, attempt, now);
  else if (attempt.kind === 'RENEWAL') settleRenewal(hold, attempt, now);
  else if (done && (attempt.kind === 'RELEASED' || attempt.kind === 'EXPIRED')) closeByRelease(hold, attempt.kind);
  const { remaining, released, status } = booksOf(hold);
  attempt.after = `${remaining}/${released}/${status}`;
}

/** Nothing is left to release: a mandatory release counts as done. */
const GONE = /^authorization_/;

function closeByCapture(hold: HoldModel, capture: Attempt): void {
  if (capture.state !== 'OK' || hold.closedBy !== undefined) return;
  if (capture.final || !hold.several) hold.closedBy = 'FINAL';
  else closeUsedUp(hold);
}

/** Nothing is left, and no increment may still add to it. */
function closeUsedUp(hold: HoldModel): void {
  const { remaining, inFlight, captured } = booksOf(hold);
  const isOpen = hold.closedBy === undefined && changeOf(hold) !== 'INCREMENT';
  if (isOpen && captured > 0 && remaining + inFlight === 0) hold.closedBy = 'FINAL';
}

/** After the contract's period, or at the processor's end when that is earlier; never earlier than before. */
function extendBy(hold: HoldModel, { state, endsAt, guaranteedUntil }: Attempt, now: number): void {
  if (state !== 'OK') return;
  const before = { ...hold };
  hold.expiresAt = Math.max(hold.expiresAt, Math.min(now + hold.periodMs, endsAt));
  hold.guaranteedUntil = Math.min(guaranteedUntil, hold.expiresAt);
  const isChanged = hold.expiresAt !== before.expiresAt || hold.guaranteedUntil !== before.guaranteedUntil;
  if (isChanged) planRenewal(hold, now);
}

function closeByRelease(hold: HoldModel, reason: 'RELEASED' | 'EXPIRED'): void {
  if (hold.placing === 'OK') hold.closedBy = reason;
  if (hold.placing !== 'OPEN') return;
  hold.placing = 'KO';
  hold.answer = closedPage(hold, reason === 'EXPIRED' ? 'expired' : 'cancelled');
}

/** The processor reports that it has done a renewal: one that was told as declined is given back. */
export function tellRenewal(hold: HoldModel, renewal: Attempt, now: number): HoldModel {
  if (renewal.state === 'KO') giveUp(hold, renewal.on, now);
  settle(hold, renewal, APPROVED, now);
  return hold;
}
