/** What the worker does with a hold by itself: it ends what is over, and inquires; and what arrives late. */
import { type Answer, type Attempt, type Fault, newAttempt, refused } from './attempt.ts';
import { booksOf, closedPage, type HoldModel, isDue, waitsAtPage } from './hold-model.ts';
import { arrive, isAccepted, isLost } from './predict.ts';
import { giveBack, receive } from './processor-model.ts';
import type { Crash } from './sent.ts';
import { reportedEnd, settle, settlePlacing } from './settle-model.ts';

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
  const attempt = newAttempt({ key: '', kind: 'EXPIRED', on: hold.present, amount, final: true, now });
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
  hold.truth ??= closedPage(hold, 'expired');
  settlePlacing(hold, hold.truth, now);
  return true;
}

/**
 * Recovery, which began then, inquires until everything has its result. A checkout whose page is not known may get it,
 * or be cancelled, first: both orders are possible.
 */
export function recover(hold: HoldModel, began: number, now: number): HoldModel[] {
  if (hold.stepUp && hold.page && !hold.pageKnown && hold.placing === 'OPEN') return learnPage(hold, began, now);
  if (!hold.byCheckout || hold.pageKnown || hold.placing !== 'OPEN') return recoverOne(hold, now);
  const pageless = settleOpen(structuredClone(hold), now);
  // One that has run out is left to the sweep.
  if (hold.pageEndsAt <= began) return pageless;
  const mayStay = hold.pageEndsAt <= now || pageless.every(({ placing }) => placing !== 'OPEN');
  return mayStay ? [...pageless, ...recoverOne(hold, now)] : recoverOne(hold, now);
}

/** Lost inquiries are made again within this time. */
const SOON_MS = 10 * 60_000;

/** The inquiry finds the page, unless its time is over by then. */
function learnPage(hold: HoldModel, began: number, now: number): HoldModel[] {
  const over = structuredClone(hold);
  closePage(over, now);
  hold.pageKnown = true;
  return [
    ...(began < hold.pageEndsAt ? settleOpen(hold, now) : []),
    ...(began + SOON_MS >= hold.pageEndsAt ? settleOpen(over, now) : []),
  ];
}

function recoverOne(hold: HoldModel, now: number): HoldModel[] {
  if (hold.placing === 'OPEN' && hold.byCheckout) {
    if (!hold.fenced) hold.page = true;
    hold.pageKnown ||= hold.page;
  } else if (hold.placing === 'OPEN' && !waitsAtPage(hold)) {
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
 * Inquiries and events are handled concurrently, so core may learn several results in any order, and each shows the
 * hold right after it.
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
    receive(hold, now);
  }
  for (const attempt of hold.attempts.filter(({ underWay }) => underWay)) {
    attempt.underWay = false;
    arrive(hold, attempt, now);
  }
  return hold;
}
