/** The processor's side of the model: its actions on a hold, and its own books of it. */
import { behaviourOf, effectOf } from '../../../../services/sandbox/behaviour.ts';
import { type Answer, type Attempt, refused } from './attempt.ts';
import { closedPage, type HoldModel } from './hold-model.ts';
import { isCapturedOnce } from './judge-model.ts';

const ISSUER_MS = 30 * 24 * 3_600_000;

/** The processor is asked to authorize: it does, or opens the page where the customer is authenticated first. */
export function receive(hold: HoldModel, now: number): void {
  if (!hold.stepUp) authorize(hold, now);
  else if (!hold.truth && !hold.fenced) hold.page = true;
}

/** Core hears by an event that the page of a step-up was closed, whatever became of the call that closed it. */
function hearOfPage(hold: HoldModel): void {
  if (!hold.stepUp || hold.placing !== 'OPEN') return;
  hold.placing = 'KO';
  hold.answer = hold.truth as Answer;
}

/** The processor authorizes. */
export function authorize(hold: HoldModel, now: number): void {
  if (hold.truth || hold.fenced) return;
  const { expiresAfterMs = ISSUER_MS, ended } = behaviourOf(hold.token);
  hold.truth = effect(effectOf(hold.token, 'authorization'));
  hold.authorizationEndsAt = now + expiresAfterMs;
  if (ended && hold.kind === 'HOLD' && hold.truth.answer === 'APPROVED') hold.endsEarlyAt = now + ended.afterMs;
}

/** The authorization is ended at the processor by somebody else, once its time has come and something is left of it. */
export function endThere(hold: HoldModel, now: number): void {
  if (hold.endsEarlyAt === 0 || now < hold.endsEarlyAt) return;
  hold.endsEarlyAt = 0;
  const rest = placedThere(hold) - hold.charged - hold.voided;
  if (rest === 0) return;
  hold.voided += rest;
  hold.endedThere = behaviourOf(hold.token).ended?.as === 'voided' ? 'RELEASED' : 'EXPIRED';
  hold.endEvent = 'PENDING';
}

/** The refusal of what comes after somebody else has ended the authorization. */
function endedElsewhere({ endedThere }: HoldModel) {
  return refused(endedThere === 'RELEASED' ? 'authorization_voided' : 'authorization_expired');
}

/** The processor charges. */
export function charge(hold: HoldModel, capture: Attempt, now: number): void {
  if (capture.truth || capture.fenced || capture.decidedAt > 0) return;
  const heldBack = hold.attempts.reduce((sum, each) => sum + each.heldBack, 0);
  const rest = placedThere(hold) - hold.charged - hold.voided - heldBack;
  const behaviour = effectOf(hold.token, 'capture');
  const takes = capture.final || !hold.several || isCapturedOnce(hold) ? rest : capture.amount;
  if (hold.truth?.answer !== 'APPROVED') capture.truth = refused('authorization_not_found');
  else if (now >= hold.authorizationEndsAt) capture.truth = refused('authorization_expired');
  else if (hold.endedThere) capture.truth = endedElsewhere(hold);
  else if (capture.amount > rest) capture.truth = refused('amount_exceeds_authorization');
  else if (behaviour.endsAfterMs === undefined) capture.truth = effect(behaviour);
  else Object.assign(capture, { decidedAt: now + behaviour.endsAfterMs, heldBack: takes });
  if (capture.truth?.answer === 'APPROVED') take(hold, capture, takes, now);
}

/** The processor decides on what it has accepted. */
export function decide(hold: HoldModel, now: number): void {
  for (const capture of hold.attempts.filter(({ decidedAt, truth }) => decidedAt > 0 && decidedAt <= now && !truth)) {
    const { heldBack, decidedAt } = capture;
    capture.heldBack = 0;
    capture.truth = effect(effectOf(hold.token, 'capture'));
    if (capture.truth.answer === 'APPROVED') take(hold, capture, heldBack, decidedAt);
  }
}

function take(hold: HoldModel, capture: Attempt, takes: number, now: number): void {
  capture.actedAt = now;
  hold.charged += capture.amount;
  hold.voided += takes - capture.amount;
}

/** The processor releases the rest, or closes the page. */
export function giveBack(hold: HoldModel, release: Attempt): void {
  if (release.truth || release.fenced) return;
  release.truth = { answer: 'APPROVED', code: '' };
  if (hold.truth === undefined && hold.page) {
    hold.truth = closedPage(hold, 'cancelled');
    hearOfPage(hold);
  } else if (hold.truth === undefined) release.truth = refused('authorization_not_found');
  else if (hold.endedThere) release.truth = endedElsewhere(hold);
  else if (hold.truth.answer === 'APPROVED') hold.voided = placedThere(hold) - hold.charged;
  else if (!/^(checkout|authentication)_(expired|cancelled)$/.test(hold.truth.code))
    release.truth = refused('authorization_not_approved');
}

/** The processor adds to the authorization, gives a part of it back, or lets it end later. */
export function alter(hold: HoldModel, change: Attempt, now: number): void {
  if (change.truth || change.fenced) return;
  const heldBack = hold.attempts.reduce((sum, each) => sum + each.heldBack, 0);
  const kind = CHANGES[change.kind as keyof typeof CHANGES];
  const left = placedThere(hold) - hold.charged - hold.voided - heldBack;
  if (hold.truth?.answer !== 'APPROVED') change.truth = refused('authorization_not_found');
  else if (now >= hold.authorizationEndsAt) change.truth = refused('authorization_expired');
  else if (hold.endedThere) change.truth = endedElsewhere(hold);
  else if (left <= 0) change.truth = refused('authorization_closed');
  else if (kind === 'decrease' && change.amount >= left) change.truth = refused('amount_exceeds_authorization');
  else change.truth = effect(effectOf(hold.token, kind));
  if (change.truth.answer !== 'APPROVED') return;
  if (kind === 'increment') hold.incremented += change.amount;
  else if (kind === 'decrease') hold.voided += change.amount;
  else {
    change.endsAt = now + ISSUER_MS;
    hold.authorizationEndsAt = Math.max(hold.authorizationEndsAt, change.endsAt);
  }
}

const CHANGES = { INCREMENT: 'increment', PART: 'decrease', EXTENSION: 'extension' } as const;

function placedThere({ amount, incremented }: HoldModel): number {
  return amount + incremented;
}

/** The processor refunds. */
export function giveRefund(hold: HoldModel, refund: Attempt): void {
  if (refund.truth || refund.fenced) return;
  const capture = hold.attempts.find(({ key }) => key === refund.of);
  const done = hold.attempts.filter(
    ({ kind, of, truth }) => kind === 'REFUND' && of === refund.of && truth?.answer === 'APPROVED',
  );
  const left = (capture?.amount ?? 0) - done.reduce((sum, { amount, returned }) => sum + amount - returned, 0);
  refund.truth = refund.amount <= left ? { answer: 'APPROVED', code: '' } : refused('amount_exceeds_capture');
}

function effect(behaviour: { answer: number; errorCode: string }): Answer {
  const answer = (['APPROVED', 'DECLINED', 'NOT_PERFORMED'] as const)[behaviour.answer - 1];
  if (!answer) throw new Error('an answer that the contract allows');
  return { answer, code: behaviour.errorCode };
}
