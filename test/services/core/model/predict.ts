/**
 * Predicts all results of commands: plays every order of the steps of core and the processor on copies of the model.
 */
import { type Answer, type Attempt, type Fault, newAttempt, toldOf, wordOf, wordOnHold } from './attempt.ts';
import { type Authorization, booksOf, CHECKOUT_MS, type HoldModel } from './hold-model.ts';
import {
  isDueToCapture,
  isDueToRelease,
  judgeCapture,
  judgeChange,
  judgePart,
  judgeRefund,
  judgeRelease,
  judgeUpdate,
} from './judge-model.ts';
import { isDueToRenew, newRenewal, planRenewal, voidReplaced } from './kept-model.ts';
import { alter, authorizeAnew, charge, giveBack, giveRefund, receive } from './processor-model.ts';
import { isRefusedAtOnce, type Sent } from './sent.ts';
import { settle, settlePlacing } from './settle-model.ts';

const TOO_SLOW: Answer = { answer: 'DECLINED', code: 'too_slow' };

/** A possible state of a hold, with the answer to each command: a word, and for a success its content. */
export interface Possible {
  readonly hold: HoldModel;
  readonly replies: readonly string[];
}

/** Returns all possible results of one or two simultaneous commands. */
export function predict(hold: HoldModel, commands: readonly Sent[], now: number): Possible[] {
  const found = new Map<string, Possible>();
  const explore = (order: readonly number[]): void => {
    const played = play(hold, commands, now, order);
    for (const next of played.unfinished) explore([...order, next]);
    if (played.unfinished.length === 0) found.set(JSON.stringify([played.hold, played.replies]), played);
  };
  explore([]);
  return [...found.values()];
}

function play(before: HoldModel, commands: readonly Sent[], now: number, order: readonly number[]) {
  const hold = structuredClone(before);
  const replies = commands.map(() => '');
  const running = commands.map((command) =>
    isRefusedAtOnce(command) ? refuse() : STEPS[command.do](hold, command, now),
  );
  const ended = new Set<number>();
  for (const index of order) {
    const step = running[index]?.next();
    if (!step?.done) continue;
    ended.add(index);
    replies[index] = step.value;
  }
  return { hold, replies, unfinished: commands.map((_, index) => index).filter((index) => !ended.has(index)) };
}

type Steps = Generator<undefined, string>;
const STEPS = {
  place,
  renew: place,
  capture,
  release,
  'release a part': releasePart,
  increment: change,
  extension: change,
  refund,
  update,
  'capture by itself': captureByItself,
  'release renewed': releaseRenewed,
  'renew kept': renewKept,
  'void replaced': giveReplacedBack,
  freeze,
} as const satisfies Record<Sent['do'], (hold: HoldModel, sent: Sent, now: number) => Steps>;

/** Nothing is stored or sent. */
function* refuse(): Steps {
  yield;
  return 'INVALID_REQUEST';
}

function* place(hold: HoldModel, sent: Sent, now: number): Steps {
  yield;
  if (hold.byCheckout) return placeByCheckout(hold, sent, now);
  hold.pageEndsAt = now + CHECKOUT_MS;
  if (sent.crash === 'stored') return 'UNKNOWN';
  if (sent.fault === 'late authorization') {
    hold.underWay = true;
    yield;
    if (sent.crash === 'answered') return 'UNKNOWN';
    settlePlacing(hold, TOO_SLOW, now);
    return 'CARD_DECLINED';
  }
  if (sent.fault === 'late') hold.underWay = true;
  if (sent.fault !== 'late' && sent.fault !== 'lost before') receive(hold, now);
  yield;
  if (sent.crash === 'answered') return 'UNKNOWN';
  if (isLost(sent.fault)) {
    hold.runningUntil = 0;
    return 'UNKNOWN';
  }
  if (hold.page) {
    hold.runningUntil = 0;
    hold.pageKnown = true;
    return 'PENDING';
  }
  settlePlacing(hold, hold.truth as Answer, now);
  return wordOf(hold.truth as Answer);
}

function placeByCheckout(hold: HoldModel, sent: Sent, now: number): string {
  hold.pageEndsAt = now + CHECKOUT_MS;
  if (sent.crash === 'stored') return 'UNKNOWN';
  if (sent.fault !== 'lost before') hold.page = true;
  if (sent.crash === 'answered') return 'UNKNOWN';
  if (isLost(sent.fault)) {
    hold.runningUntil = 0;
    return 'UNKNOWN';
  }
  hold.runningUntil = 0;
  hold.pageKnown = true;
  return 'PENDING';
}

/** The answer to a repetition of the placing. */
export function replayPlacing(hold: HoldModel, now: number): string {
  if (hold.pageKnown) return 'PENDING';
  if (hold.placing === 'KO') return wordOf(hold.answer as Answer);
  if (hold.placing === 'OK' && !hold.byCheckout) return 'OK';
  return now < hold.runningUntil ? 'IDEMPOTENCY_IN_FLIGHT' : 'UNKNOWN';
}

function* capture(hold: HoldModel, sent: Sent, now: number): Steps {
  const refusal = judgeCapture(hold, sent.amount, sent.final, now);
  if (refusal !== undefined || find(hold, sent)) return yield* answerAgain(hold, sent, refusal, now);
  const { key, amount, final } = sent;
  return yield* carryOut(hold, newAttempt({ key, kind: 'CAPTURE', on: hold.present, amount, final, now }), sent, now);
}

function* release(hold: HoldModel, sent: Sent, now: number): Steps {
  yield;
  const refusal = judgeRelease(hold, now);
  if (refusal !== undefined || find(hold, sent)) return yield* answerAgain(hold, sent, refusal, now);
  return yield* carryOut(hold, newRelease(hold, sent.key, now), sent, now);
}

function* releasePart(hold: HoldModel, sent: Sent, now: number): Steps {
  const { key, amount } = sent;
  const whole = amount === booksOf(hold).remaining;
  yield;
  const refusal = judgePart(hold, amount, whole, now);
  if (refusal !== undefined || find(hold, sent)) return yield* answerAgain(hold, sent, refusal, now);
  const part = newAttempt({ key, kind: 'PART', on: hold.present, amount, final: false, now });
  return yield* carryOut(hold, whole ? newRelease(hold, key, now) : part, sent, now);
}

function newRelease(hold: HoldModel, key: string, now: number): Attempt {
  const amount = hold.placing === 'OK' ? booksOf(hold).remaining : 0;
  return newAttempt({ key, kind: 'RELEASED', on: hold.present, amount, final: true, now });
}

function* change(hold: HoldModel, sent: Sent, now: number): Steps {
  yield;
  const refusal = judgeChange(hold, sent.do === 'increment' ? 'increments' : 'extension', now);
  if (refusal !== undefined || find(hold, sent)) return yield* answerAgain(hold, sent, refusal, now);
  const [kind, amount] = sent.do === 'increment' ? (['INCREMENT', sent.amount] as const) : (['EXTENSION', 0] as const);
  return yield* carryOut(
    hold,
    newAttempt({ key: sent.key, kind, on: hold.present, amount, final: false, now }),
    sent,
    now,
  );
}

function* refund(hold: HoldModel, sent: Sent, now: number): Steps {
  const refusal = judgeRefund(hold, sent.of ?? '', sent.amount);
  if (refusal !== undefined || find(hold, sent)) return yield* answerAgain(hold, sent, refusal, now);
  const { key, of, amount } = sent;
  const on = hold.attempts.find((capture) => capture.key === of)?.on ?? 0;
  return yield* carryOut(hold, newAttempt({ key, kind: 'REFUND', on, of, amount, final: false, now }), sent, now);
}

/** The merchant changes when the hold captures by itself, when it ends, and until when it is kept. */
function* update(hold: HoldModel, { terms = {} }: Sent, now: number): Steps {
  yield;
  const refusal = judgeUpdate(hold, terms, now);
  if (refusal !== undefined) return refusal;
  const before = { ...hold };
  Object.assign(hold, terms);
  const isChanged = (['keepUntil', 'captureAt', 'releaseAt'] as const).some((name) => hold[name] !== before[name]);
  if (hold.placing === 'OK' && isChanged) planRenewal(hold, now);
  return 'OK';
}

/** The processor contradicts itself about a hold that is placed. */
function* freeze(hold: HoldModel): Steps {
  yield;
  hold.frozen = true;
  return 'TOLD';
}

/** A worker captures what remains, when captureAt is due. */
function* captureByItself(hold: HoldModel, sent: Sent, now: number): Steps {
  yield;
  if (!isDueToCapture(hold, now)) return 'LOOKED';
  const amount = booksOf(hold).remaining;
  const attempt = newAttempt({ key: '', kind: 'CAPTURE', on: hold.present, amount, final: true, automatic: true, now });
  return yield* work(hold, attempt, sent, now);
}

/** A worker releases a hold that was renewed, after the new one is placed; one that the processor refuses stays. */
function* releaseRenewed(hold: HoldModel, sent: Sent, now: number): Steps {
  yield;
  if (sent.renewal !== 'OK' || !isDueToRelease(hold, now)) return 'LOOKED';
  return yield* work(hold, newRelease(hold, '', now), sent, now);
}

/** A worker renews a kept hold, when that is due. */
function* renewKept(hold: HoldModel, sent: Sent, now: number): Steps {
  yield;
  if (!isDueToRenew(hold, now)) return 'LOOKED';
  return yield* work(hold, newRenewal(hold, now), sent, now);
}

/** A worker stores the void of what a renewal has left. */
function* giveReplacedBack(hold: HoldModel, _: Sent, now: number): Steps {
  yield;
  voidReplaced(hold, now);
  return 'LOOKED';
}

/** Nobody waits for the answer. */
function* work(hold: HoldModel, attempt: Attempt, sent: Sent, now: number): Steps {
  const answer = yield* carryOut(hold, attempt, sent, now);
  if (sent.do === 'release renewed' && answer !== 'UNKNOWN') hold.renewal = 'DONE';
  return sent.crash === 'none' ? 'LOOKED' : 'DIED';
}

/** What was stored under the key of a command. */
function find({ attempts }: HoldModel, sent: Sent): Attempt | undefined {
  return attempts.find(({ key }) => key === sent.key);
}

function* answerAgain(hold: HoldModel, sent: Sent, refusal: string | undefined, now: number): Steps {
  yield;
  const kept = find(hold, sent);
  return kept ? replay(kept, now) : (refusal ?? '');
}

/** Stores an attempt, sends it, and books the answer. */
function* carryOut(hold: HoldModel, attempt: Attempt, sent: Sent, now: number): Steps {
  hold.attempts.push(attempt);
  yield;
  if (sent.crash === 'stored') return 'UNKNOWN';
  if (attempt.kind === 'RENEWAL' && sent.fault === 'other amount')
    (hold.chain[attempt.on] as Authorization).amount += 1;
  if (sent.fault === 'late' || sent.fault === 'late authorization') attempt.underWay = true;
  else if (sent.fault !== 'lost before') arrive(hold, attempt, now);
  yield;
  return answered(hold, attempt, sent, now);
}

/** The processor receives an attempt. */
export function arrive(hold: HoldModel, attempt: Attempt, now: number): void {
  if (attempt.kind === 'CAPTURE') charge(hold, attempt, now);
  else if (attempt.kind === 'INCREMENT' || attempt.kind === 'EXTENSION' || attempt.kind === 'PART')
    alter(hold, attempt, now);
  else if (attempt.kind === 'REFUND') giveRefund(hold, attempt);
  else if (attempt.kind === 'RENEWAL') authorizeAnew(hold, attempt, now);
  else giveBack(hold, attempt);
}

function answered(hold: HoldModel, attempt: Attempt, { fault, crash }: Sent, now: number): string {
  if (crash === 'answered') return 'UNKNOWN';
  if (isLost(fault) || isAccepted(attempt)) {
    attempt.runningUntil = 0;
    return 'UNKNOWN';
  }
  settle(hold, attempt, fault === 'late authorization' ? TOO_SLOW : (attempt.truth as Answer), now);
  return replay(attempt, 0);
}

function replay(attempt: Attempt, now: number): string {
  if (attempt.state === 'OPEN') return now < attempt.runningUntil ? 'IDEMPOTENCY_IN_FLIGHT' : 'UNKNOWN';
  const onHold = attempt.kind === 'REFUND' ? wordOf : wordOnHold;
  const wasKo = toldOf(attempt.state, attempt.corrections) === 'KO';
  // A correction forgets why it was KO: nothing here is corrected that was declined.
  if (wasKo) return attempt.corrections.length > 0 ? 'PROCESSOR_ERROR' : onHold(attempt.answer as Answer);
  return WORD_ALONE.has(attempt.kind) ? 'OK' : `OK ${attempt.after}`;
}

/** Their answers are compared as words. */
const WORD_ALONE: ReadonlySet<Attempt['kind']> = new Set(['RELEASED', 'PART', 'REFUND']);

/** The processor has accepted it, and has not decided. */
export function isAccepted({ decidedAt, truth }: Attempt): boolean {
  return decidedAt > 0 && truth === undefined;
}

export function isLost(fault: Fault): boolean {
  return fault === 'lost before' || fault === 'lost after' || fault === 'late';
}
