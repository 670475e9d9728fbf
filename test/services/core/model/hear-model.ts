/** What core hears of the processor's events. */
import type { Answer } from './attempt.ts';
import type { HoldModel } from './hold-model.ts';
import { decide, endThere } from './processor-model.ts';
import { settleInAnyOrder } from './recover-model.ts';
import { settle, settlePlacing, tellEnds } from './settle-model.ts';

/**
 * Time passes: pending events are reported. Two events may arrive in any order, and a rejected one is reported again
 * some time later.
 */
export function hear(hold: HoldModel, now: number): HoldModel[] {
  endThere(hold, now);
  decide(hold, now);
  return settleInAnyOrder(
    hold,
    ({ state, decidedAt, truth }) => state === 'OPEN' && decidedAt > 0 && truth !== undefined,
    (each, attempt) => settle(each, attempt, attempt.truth as Answer, now),
  ).flatMap((each) => hearEvents(each, now));
}

function hearEvents(hold: HoldModel, now: number): HoldModel[] {
  const [first, last] = [structuredClone(hold), hold];
  tellEnds(first, now);
  for (const each of [first, last]) {
    if (!each.eventPending) continue;
    each.eventPending = false;
    settlePlacing(each, each.truth as Answer, now);
  }
  const untold = hold.chain.some(({ endEvent }) => endEvent === 'REFUSED') ? [structuredClone(last)] : [];
  tellEnds(last, now);
  return [first, last, ...untold];
}

/** All events are reported in the end. */
export function hearAll(hold: HoldModel, now: number): HoldModel {
  tellEnds(hold, now);
  return hold;
}

/** The processor reports the result of the placing. */
export function tellPlacing(hold: HoldModel, now: number): HoldModel {
  if (hold.truth) settlePlacing(hold, hold.truth, now);
  return hold;
}
