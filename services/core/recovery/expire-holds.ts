import { endHold } from '../kinds/end-hold.ts';
import type { Sender } from '../kinds/facts.ts';
import { type Work, workOnce } from '../scheduling/work-loop.ts';
import { AT_ANY_PROCESSOR, type AtProcessor } from '../storage/at-processor.ts';
import { type DueHold, findDueHolds } from '../storage/hold/find-due-holds.ts';
import { checkoutExpiries } from './expire-checkouts.ts';

const SLOTS = 200;
const INTERVAL_MS = 500;

/**
 * Gives back what remains of holds whose period is over, and ends those whose authorization ended at the processor. A
 * hold with a capture on its way is left until that has its result. A frozen hold expires like any other: at the end of
 * its period the bank gives the money back whatever we say; freezing stops only what a merchant asks for, captures and
 * releases. None while the database is being reconciled: a capture of the hold may be lost, and merchants are told that
 * it has expired.
 */
export function expiries(recovery: Sender, at: AtProcessor = AT_ANY_PROCESSOR): Work<DueHold> {
  const { clock, database } = recovery;
  return {
    name: 'expire-holds',
    intervalMs: INTERVAL_MS,
    slots: SLOTS,
    keyOf: ({ requestId }) => requestId,
    find: (limit, but) => findDueHolds(database.query, { now: clock(), limit, but }, at),
    handle: (hold) => endHold(recovery, hold),
  };
}

/** Expires holds and checkouts that are due, once. Resolves with how many that were. */
export async function expireHolds(recovery: Sender): Promise<number> {
  const ends = await Promise.allSettled([workOnce(expiries(recovery)), workOnce(checkoutExpiries(recovery))]);
  return ends.reduce((total, end) => {
    if (end.status === 'rejected') throw end.reason;
    return total + end.value;
  }, 0);
}
