import { endHold } from '../kinds/end-hold.ts';
import type { Sender } from '../kinds/facts.ts';
import { settleLate } from '../kinds/settle-late.ts';
import { callOverAt } from '../processor/processor.ts';
import type { Work } from '../scheduling/work-loop.ts';
import { AT_ANY_PROCESSOR, type AtProcessor } from '../storage/at-processor.ts';
import { findHold } from '../storage/hold/read-holds.ts';
import { reconcilingSince } from '../storage/reconciling.ts';
import { findSent } from '../storage/submission/find-sent.ts';
import { type DueSubmission, takeCheckoutsThatRanOut } from '../storage/submission/open-submissions.ts';
import { settleOrPutOff } from './put-off.ts';

const SLOTS = 200;
const INTERVAL_MS = 500;

/** Gives up checkouts that have run out. */
export function checkoutExpiries(recovery: Sender, at: AtProcessor = AT_ANY_PROCESSOR): Work<DueSubmission> {
  return {
    name: 'expire-checkouts',
    intervalMs: INTERVAL_MS,
    slots: SLOTS,
    keyOf: ({ requestId }) => requestId,
    find: (limit) => takeDue(recovery, limit, at),
    handle: (due) => settleOrPutOff(recovery, due, giveUp),
  };
}

/** None while the database is being reconciled, as with holds. */
async function takeDue({ processors, clock, database }: Sender, limit: number, at: AtProcessor) {
  if (await reconcilingSince(database.query)) return [];
  const now = clock();
  return takeCheckoutsThatRanOut(database.query, { now, nextAt: callOverAt(processors, now), limit }, at);
}

/**
 * The customer may have finished in the last second: inquires first, which fences, so that no page can be opened any
 * more. A processor that does not fence and does not know the checkout has nothing to give back.
 */
async function giveUp(recovery: Sender, due: DueSubmission): Promise<'LATER' | undefined> {
  const { query } = recovery.database;
  const sent = await findSent(query, due.requestId);
  const answer = await recovery.processors.of(due).inquire(sent ?? due);
  if (answer.found === 'NO_ANSWER') return 'LATER';
  if (answer.found === 'DONE') return (await settleLate(recovery, due, answer.outcome)) ? undefined : 'LATER';
  const hold = await findHold(query, due.requestId);
  if (hold) await endHold(recovery, hold);
  return undefined;
}
