/** The processor's side of the model: its actions on a hold, and its own books of it. */
import { behaviourOf, effectOf, GUARANTEE_MS } from '../../../../services/sandbox/behaviour.ts';
import { type Answer, type Attempt, refused } from './attempt.ts';
import { type Authorization, closedPage, type HoldModel, renewalOf } from './hold-model.ts';
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
  hold.truth = effect(effectOf(hold.token, 'authorization'));
  reserve(hold, 0, hold.truth, now);
}

/** The processor authorizes a renewal. */
export function authorizeAnew(hold: HoldModel, renewal: Attempt, now: number): void {
  if (renewal.truth || renewal.fenced) return;
  renewal.truth = effect(effectOf(hold.token, 'authorization'));
  reserve(hold, renewal.on, renewal.truth, now);
}

function reserve(hold: HoldModel, on: number, { answer }: Answer, now: number): void {
  const { expiresAfterMs = ISSUER_MS, guaranteedForMs = GUARANTEE_MS, ended } = behaviourOf(hold.token);
  const authorization = authorizationOf(hold, on);
  authorization.endsAt = now + expiresAfterMs;
  authorization.guaranteedUntil = Math.min(authorization.endsAt, now + guaranteedForMs);
  if (ended && hold.kind === 'HOLD' && answer === 'APPROVED') authorization.endsEarlyAt = now + ended.afterMs;
}

function authorizationOf({ chain }: HoldModel, on: number): Authorization {
  const authorization = chain[on];
  if (!authorization) throw new Error('an attempt is on an authorization of its hold');
  return authorization;
}

/** What the processor answered when it was asked for the authorization. */
function truthOf(hold: HoldModel, on: number): Answer | undefined {
  return on === 0 ? hold.truth : renewalOf(hold, on)?.truth;
}

/** Authorizations are ended at the processor by somebody else, once their time has come and something is left of them. */
export function endThere(hold: HoldModel, now: number): void {
  for (const [index, authorization] of hold.chain.entries()) {
    if (authorization.endsEarlyAt === 0 || now < authorization.endsEarlyAt) continue;
    authorization.endsEarlyAt = 0;
    const rest = leftOf(authorization) - heldBackOf(hold, index);
    if (rest === 0) continue;
    authorization.voided += rest;
    authorization.endedThere = behaviourOf(hold.token).ended?.as === 'voided' ? 'RELEASED' : 'EXPIRED';
    authorization.endEvent = 'PENDING';
  }
}

function leftOf({ amount, incremented, charged, voided }: Authorization): number {
  return amount + incremented - charged - voided;
}

/** What accepted captures of an authorization hold back. */
function heldBackOf({ attempts }: HoldModel, on: number): number {
  return attempts.reduce((sum, each) => sum + (each.on === on ? each.heldBack : 0), 0);
}

/** The refusal of what comes after somebody else has ended the authorization. */
function endedElsewhere({ endedThere }: Authorization) {
  return refused(endedThere === 'RELEASED' ? 'authorization_voided' : 'authorization_expired');
}

/** The processor charges. */
export function charge(hold: HoldModel, capture: Attempt, now: number): void {
  if (capture.truth || capture.fenced || capture.decidedAt > 0) return;
  const authorization = authorizationOf(hold, capture.on);
  const rest = leftOf(authorization) - heldBackOf(hold, capture.on);
  const behaviour = effectOf(hold.token, 'capture');
  const takes = capture.final || !hold.several || isCapturedOnce(hold) ? rest : capture.amount;
  if (truthOf(hold, capture.on)?.answer !== 'APPROVED') capture.truth = refused('authorization_not_found');
  else if (now >= authorization.endsAt) capture.truth = refused('authorization_expired');
  else if (authorization.endedThere) capture.truth = endedElsewhere(authorization);
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
    const authorization = authorizationOf(hold, capture.on);
    if (authorization.endedThere) authorization.voided += leftOf(authorization) - heldBackOf(hold, capture.on);
  }
}

function take(hold: HoldModel, capture: Attempt, takes: number, now: number): void {
  capture.actedAt = now;
  const authorization = authorizationOf(hold, capture.on);
  authorization.charged += capture.amount;
  authorization.voided += takes - capture.amount;
}

/** The processor releases the rest, or closes the page. */
export function giveBack(hold: HoldModel, release: Attempt): void {
  if (release.truth || release.fenced) return;
  release.truth = { answer: 'APPROVED', code: '' };
  const authorization = authorizationOf(hold, release.on);
  const truth = truthOf(hold, release.on);
  if (truth === undefined && hold.page) {
    hold.truth = closedPage(hold, 'cancelled');
    hearOfPage(hold);
  } else if (truth === undefined) release.truth = refused('authorization_not_found');
  else if (authorization.endedThere) release.truth = endedElsewhere(authorization);
  else if (truth.answer === 'APPROVED') authorization.voided += leftOf(authorization);
  else if (!/^(checkout|authentication)_(expired|cancelled)$/.test(truth.code))
    release.truth = refused('authorization_not_approved');
}

/** The processor adds to the authorization, gives a part of it back, or lets it end later. */
export function alter(hold: HoldModel, change: Attempt, now: number): void {
  if (change.truth || change.fenced) return;
  const authorization = authorizationOf(hold, change.on);
  const kind = CHANGES[change.kind as keyof typeof CHANGES];
  const left = leftOf(authorization) - heldBackOf(hold, change.on);
  if (truthOf(hold, change.on)?.answer !== 'APPROVED') change.truth = refused('authorization_not_found');
  else if (now >= authorization.endsAt) change.truth = refused('authorization_expired');
  else if (authorization.endedThere) change.truth = endedElsewhere(authorization);
  else if (left <= 0) change.truth = refused('authorization_closed');
  else if (kind === 'decrease' && change.amount >= left) change.truth = refused('amount_exceeds_authorization');
  else change.truth = effect(effectOf(hold.token, kind));
  if (change.truth.answer !== 'APPROVED') return;
  if (kind === 'increment') authorization.incremented += change.amount;
  else if (kind === 'decrease') authorization.voided += change.amount;
  else {
    const { guaranteedForMs = GUARANTEE_MS } = behaviourOf(hold.token);
    change.endsAt = now + ISSUER_MS;
    change.guaranteedUntil = Math.min(change.endsAt, now + guaranteedForMs);
    authorization.endsAt = Math.max(authorization.endsAt, change.endsAt);
  }
}

const CHANGES = { INCREMENT: 'increment', PART: 'decrease', EXTENSION: 'extension' } as const;

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
