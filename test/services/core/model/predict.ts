/** Predicts all results of commands: plays every order of the steps of core and the processor on copies of the model. */
import {
  type Answer,
  type Attempt,
  booksOf,
  CHECKOUT_MS,
  type Fault,
  type HoldModel,
  isDue,
  newAttempt,
  refused,
  reportedEnd,
  settle,
  settlePlacing,
  wordOf,
} from './hold-model.ts';
import { judgeCapture, judgeChange, judgeRefund, judgeRelease } from './judge-model.ts';
import { alter, authorize, charge, giveBack, giveRefund } from './processor-model.ts';

/** The point where core dies, if it does. */
export type Crash = 'none' | 'stored' | 'answered';

/** One command as it is sent. */
export interface Sent {
  readonly do: 'place' | 'capture' | 'release' | 'increment' | 'extension' | 'refund';
  /** Of a refund: the key of its capture, and its requestId. */
  readonly of?: string;
  readonly captureRequestId?: string;
  readonly key: string;
  readonly amount: number;
  readonly final: boolean;
  readonly fault: Fault;
  readonly crash: Crash;
  /** The caller aborted the call before, and repeats it under its key. */
  readonly brokenOff?: boolean;
}

/** Whether it changes the hold itself. */
export const isChange = ({ do: what }: Sent) => what === 'increment' || what === 'extension';

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
  const running = commands.map((command) => STEPS[command.do](hold, command, now));
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
const STEPS: Record<Sent['do'], (hold: HoldModel, sent: Sent, now: number) => Steps> = {
  place,
  capture,
  release,
  increment: change,
  extension: change,
  refund,
};

function* place(hold: HoldModel, sent: Sent, now: number): Steps {
  yield;
  if (hold.byCheckout) return placeByCheckout(hold, sent, now);
  if (sent.crash === 'stored') return 'UNKNOWN';
  if (sent.fault === 'late authorization') {
    hold.underWay = true;
    yield;
    if (sent.crash === 'answered') return 'UNKNOWN';
    settlePlacing(hold, { answer: 'DECLINED', code: 'too_slow' }, now);
    return 'CARD_DECLINED';
  }
  if (sent.fault === 'late') hold.underWay = true;
  if (sent.fault !== 'late' && sent.fault !== 'lost before') authorize(hold, now);
  yield;
  if (sent.crash === 'answered') return 'UNKNOWN';
  if (isLost(sent.fault)) {
    hold.runningUntil = 0;
    return 'UNKNOWN';
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
  const known = hold.attempts.find(({ key }) => key === sent.key);
  if (refusal !== undefined || known) {
    yield;
    const kept = hold.attempts.find(({ key }) => key === sent.key);
    return kept ? replay(kept, now) : (refusal ?? '');
  }
  const attempt = newAttempt({ key: sent.key, kind: 'CAPTURE', amount: sent.amount, final: sent.final, now });
  hold.attempts.push(attempt);
  yield;
  if (sent.crash === 'stored') return 'UNKNOWN';
  if (sent.fault === 'late') attempt.underWay = true;
  else if (sent.fault !== 'lost before') charge(hold, attempt, now);
  yield;
  return answered(hold, attempt, sent, now);
}

function* release(hold: HoldModel, sent: Sent, now: number): Steps {
  yield;
  const refusal = judgeRelease(hold, now);
  const known = hold.attempts.find(({ key }) => key === sent.key);
  if (refusal !== undefined || known) {
    yield;
    const kept = hold.attempts.find(({ key }) => key === sent.key);
    return kept ? replay(kept, now) : (refusal ?? '');
  }
  const amount = hold.placing === 'OK' ? booksOf(hold).remaining : 0;
  const attempt = newAttempt({ key: sent.key, kind: 'RELEASED', amount, final: true, now });
  hold.attempts.push(attempt);
  yield;
  if (sent.crash === 'stored') return 'UNKNOWN';
  if (sent.fault === 'late') attempt.underWay = true;
  else if (sent.fault !== 'lost before') giveBack(hold, attempt);
  yield;
  return answered(hold, attempt, sent, now);
}

function* change(hold: HoldModel, sent: Sent, now: number): Steps {
  yield;
  const refusal = judgeChange(hold, sent.do === 'increment' ? 'increments' : 'extension', now);
  const known = hold.attempts.find(({ key }) => key === sent.key);
  if (refusal !== undefined || known) {
    yield;
    const kept = hold.attempts.find(({ key }) => key === sent.key);
    return kept ? replay(kept, now) : (refusal ?? '');
  }
  const [kind, amount] = sent.do === 'increment' ? (['INCREMENT', sent.amount] as const) : (['EXTENSION', 0] as const);
  const attempt = newAttempt({ key: sent.key, kind, amount, final: false, now });
  hold.attempts.push(attempt);
  yield;
  if (sent.crash === 'stored') return 'UNKNOWN';
  if (sent.fault === 'late') attempt.underWay = true;
  else if (sent.fault !== 'lost before') alter(hold, attempt, now);
  yield;
  return answered(hold, attempt, sent, now);
}

function* refund(hold: HoldModel, sent: Sent, now: number): Steps {
  const refusal = judgeRefund(hold, sent.of ?? '', sent.amount);
  const known = hold.attempts.find(({ key }) => key === sent.key);
  if (refusal !== undefined || known) {
    yield;
    const kept = hold.attempts.find(({ key }) => key === sent.key);
    return kept ? replay(kept, now) : (refusal ?? '');
  }
  const attempt = newAttempt({ key: sent.key, kind: 'REFUND', of: sent.of, amount: sent.amount, final: false, now });
  hold.attempts.push(attempt);
  yield;
  if (sent.crash === 'stored') return 'UNKNOWN';
  if (sent.fault === 'late') attempt.underWay = true;
  else if (sent.fault !== 'lost before') giveRefund(hold, attempt);
  yield;
  return answered(hold, attempt, sent, now);
}

function answered(hold: HoldModel, attempt: Attempt, { fault, crash }: Sent, now: number): string {
  if (crash === 'answered') return 'UNKNOWN';
  if (isLost(fault) || isAccepted(attempt)) {
    attempt.runningUntil = 0;
    return 'UNKNOWN';
  }
  settle(hold, attempt, attempt.truth as Answer, now);
  return replay(attempt, 0);
}

function replay(attempt: Attempt, now: number): string {
  if (attempt.state === 'OPEN') return now < attempt.runningUntil ? 'IDEMPOTENCY_IN_FLIGHT' : 'UNKNOWN';
  if (attempt.state === 'KO') return wordOf(attempt.answer as Answer);
  return attempt.kind === 'RELEASED' || attempt.kind === 'REFUND' ? 'OK' : `OK ${attempt.after}`;
}

/** The processor has accepted it, and has not decided. */
function isAccepted({ decidedAt, truth }: Attempt): boolean {
  return decidedAt > 0 && truth === undefined;
}

function isLost(fault: Fault): boolean {
  return fault === 'lost before' || fault === 'lost after' || fault === 'late';
}

/** The expiry sweep runs; a void that is lost leaves the release unknown. */
export function sweep(hold: HoldModel, now: number, fault: Fault, crash: Crash): HoldModel {
  if (!isDue(hold, now)) return hold;
  if (hold.placing === 'OPEN' && closePage(hold, now)) return hold;
  if (hold.endedAs) {
    const end = reportedEnd(hold, now);
    if (crash === 'none') settle(hold, end, end.truth as Answer, now);
    return hold;
  }
  const amount = hold.placing === 'OK' ? booksOf(hold).remaining : 0;
  const attempt = newAttempt({ key: '', kind: 'EXPIRED', amount, final: true, now });
  hold.attempts.push(attempt);
  if (crash === 'stored') return hold;
  if (fault !== 'lost before') giveBack(hold, attempt);
  if (crash !== 'answered' && !isLost(fault)) settle(hold, attempt, attempt.truth as Answer, now);
  return hold;
}

/** Inquires first; false = the processor does not know the checkout, and has fenced it. */
function closePage(hold: HoldModel, now: number): boolean {
  if (!hold.page) {
    hold.fenced = true;
    return false;
  }
  hold.truth ??= refused('checkout_expired');
  settlePlacing(hold, hold.truth, now);
  return true;
}

/**
 * Recovery, which began then, inquires until everything has its result. A checkout whose page is not known may get it, or be cancelled, first: both orders are
 * possible.
 */
export function recover(hold: HoldModel, began: number, now: number): HoldModel[] {
  if (!hold.byCheckout || hold.pageKnown || hold.placing !== 'OPEN') return recoverOne(hold, now);
  const pageless = settleOpen(structuredClone(hold), now);
  // One that has run out is left to the sweep.
  if (hold.pageEndsAt <= began) return pageless;
  const mayStay = hold.pageEndsAt <= now || pageless.every(({ placing }) => placing !== 'OPEN');
  return mayStay ? [...pageless, ...recoverOne(hold, now)] : recoverOne(hold, now);
}

function recoverOne(hold: HoldModel, now: number): HoldModel[] {
  if (hold.placing === 'OPEN' && hold.byCheckout) {
    if (!hold.fenced) hold.page = true;
    hold.pageKnown ||= hold.page;
  } else if (hold.placing === 'OPEN') {
    hold.fenced ||= hold.truth === undefined;
    settlePlacing(hold, hold.truth ?? refused('never_received'), now);
  }
  return settleOpen(hold, now);
}

function settleOpen(hold: HoldModel, now: number): HoldModel[] {
  return settleInAnyOrder(
    hold,
    (attempt) => attempt.state === 'OPEN' && !isAccepted(attempt),
    (each, attempt) => {
      if (attempt.kind === 'LATE') giveBack(each, attempt);
      attempt.fenced ||= attempt.truth === undefined;
      settle(each, attempt, attempt.truth ?? refused('never_received'), now);
    },
  );
}

/**
 * Inquiries and events are handled concurrently, so core may learn several results in any order, and each shows the hold right after it.
 */
export function settleInAnyOrder(
  hold: HoldModel,
  isOpen: (attempt: Attempt) => boolean,
  settleOne: (hold: HoldModel, attempt: Attempt) => void,
): HoldModel[] {
  const open = hold.attempts.flatMap((attempt, index) => (isOpen(attempt) ? [index] : []));
  if (open.length === 0) return [hold];
  return open.flatMap((index) => {
    const settled = structuredClone(hold);
    settleOne(settled, settled.attempts[index] as Attempt);
    return settleInAnyOrder(settled, isOpen, settleOne);
  });
}

/** Requests that were held back arrive. */
export function deliver(hold: HoldModel, now: number): HoldModel {
  if (hold.underWay) {
    hold.underWay = false;
    authorize(hold, now);
  }
  for (const attempt of hold.attempts.filter(({ underWay }) => underWay)) {
    attempt.underWay = false;
    if (attempt.kind === 'CAPTURE') charge(hold, attempt, now);
    else if (attempt.kind === 'INCREMENT' || attempt.kind === 'EXTENSION') alter(hold, attempt, now);
    else if (attempt.kind === 'REFUND') giveRefund(hold, attempt);
    else giveBack(hold, attempt);
  }
  return hold;
}
