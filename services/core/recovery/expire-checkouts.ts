import { endHold } from '../kinds/end-hold.ts';
import type { Sender } from '../kinds/facts.ts';
import { settleLate } from '../kinds/settle-late.ts';
import { callOverAt } from '../processor/processor.ts';
import type { Work } from '../scheduling/work-loop.ts';
import { AT_ANY_PROCESSOR, type AtProcessor } from '../storage/at-processor.ts';
import { findHold } from '../storage/hold/read-holds.ts';
import { findSent } from '../storage/submission/find-sent.ts';
import { type DueSubmission, takeCheckoutsThatRanOut } from '../storage/submission/open-submissions.ts';
import { settleOrPutOff } from './put-off.ts';

const SLOTS = 200;
const INTERVAL_MS = 500;

/** Gives up checkouts that have run out. None while the database is being reconciled, as with holds. */
export function checkoutExpiries(recovery: Sender, at: AtProcessor = AT_ANY_PROCESSOR): Work<DueSubmission> {
  const { clock, database, processors } = recovery;
  return {
    name: 'expire-checkouts',
    intervalMs: INTERVAL_MS,
    slots: SLOTS,
    keyOf: ({ requestId }) => requestId,
    find(limit) {
      const now = clock();
      return takeCheckoutsThatRanOut(database.query, { now, nextAt: callOverAt(processors, now), limit }, at);
    },
    handle: (due) => settleOrPutOff(recovery, due, giveUp),
  };
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
