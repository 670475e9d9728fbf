import { endHold } from '../kinds/end-hold.ts';
import type { Asker } from '../kinds/kind.ts';
import { settleLate } from '../kinds/settle-late.ts';
import { type Work, workOnce } from '../scheduling/work-loop.ts';
import { AT_ANY_PROCESSOR, type AtProcessor } from '../storage/at-processor.ts';
import { type DueHold, findDueHolds } from '../storage/hold/find-due-holds.ts';
import { reconcilingSince } from '../storage/reconciling.ts';

const SLOTS = 200;
const INTERVAL_MS = 500;

/**
 * Gives back what remains of holds whose period is over, ends those whose authorization ended at the processor, and gives up checkouts
 * that ran out. A hold with a capture on its way is
 * left until that has its result. A frozen hold expires like any other: at the end of its period the bank gives the money back whatever
 * we say; freezing stops only what a merchant asks for, captures and releases.
 */
export function expiries(recovery: Asker, at: AtProcessor = AT_ANY_PROCESSOR): Work<DueHold> {
  return {
    name: 'expire-holds',
    intervalMs: INTERVAL_MS,
    slots: SLOTS,
    keyOf: ({ requestId }) => requestId,
    find: (limit) => findDue(recovery, limit, at),
    handle: (hold) => (hold.phase === 'AUTHORIZED' ? endHold(recovery, hold) : expireCheckout(recovery, hold)),
  };
}

/** Nothing ends while the database is being reconciled: a capture of the hold may be lost, and would find no room for its import. */
async function findDue({ clock, database: { query } }: Asker, limit: number, at: AtProcessor): Promise<DueHold[]> {
  if (await reconcilingSince(query)) return [];
  return findDueHolds(query, clock(), limit, at);
}

/** Expires what is due, once. Resolves with how many holds that were. */
export function expireHolds(recovery: Asker): Promise<number> {
  return workOnce(expiries(recovery));
}

/** The customer may have finished in the last second: inquires first, which fences, so that no page can be opened any more. */
async function expireCheckout(recovery: Asker, hold: DueHold): Promise<void> {
  const answer = await recovery.processors.of(hold).inquire(hold);
  if (answer.found === 'DONE') return void (await settleLate(recovery, 'hold', hold.requestId, answer.outcome));
  if (answer.found === 'NO_ANSWER') return;
  await endHold(recovery, hold);
}
