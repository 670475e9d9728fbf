import { isOpen } from '../domain/hold-rules.ts';
import { actUnasked } from '../kinds/end-hold.ts';
import type { Sender } from '../kinds/facts.ts';
import { MOST_LOST } from '../kinds/settle-outcome.ts';
import type { Work } from '../scheduling/work-loop.ts';
import { AT_ANY_PROCESSOR, type AtProcessor } from '../storage/at-processor.ts';
import { findRenewed, markOldReleased, type Renewed } from '../storage/hold/find-renewed.ts';
import { countLost } from '../storage/submission/read-submissions.ts';

const SLOTS = 200;
const INTERVAL_MS = 250;

/**
 * Releases holds that were renewed, after the new ones are placed and when nothing of the old ones is in flight: the
 * merchant is never without a hold because of us. What a failed renewal would have replaced stays. None while the
 * database is being reconciled.
 */
export function renewals(recovery: Sender, at: AtProcessor = AT_ANY_PROCESSOR): Work<Renewed> {
  const {
    clock,
    database: { query },
  } = recovery;
  return {
    name: 'release-renewed',
    intervalMs: INTERVAL_MS,
    slots: SLOTS,
    keyOf: ({ renewedBy }) => renewedBy,
    find: (limit, but) => findRenewed(query, { now: clock(), limit, but }, at),
    handle: (renewed) => releaseOld(recovery, renewed),
  };
}

/**
 * A release that is refused by the processor is not repeated: its result says so, and the hold stays until its end. One
 * that never arrived is made again, a few times: whoever sent it may have died before.
 */
async function releaseOld(sender: Sender, { requestId: old, idHash, status, renewedBy, renewalPhase }: Renewed) {
  const { query } = sender.database;
  const isLeft = renewalPhase === 'FAILED' || !isOpen({ status });
  if (isLeft || (await countLost(query, old, 'RELEASE')) >= MOST_LOST) return markOldReleased(query, renewedBy);
  // When something else of the hold came first, it is looked at again.
  const settled = await actUnasked(sender, { kind: 'RELEASE', idHash });
  if (settled?.is === 'SETTLED') await markOldReleased(query, renewedBy);
}
