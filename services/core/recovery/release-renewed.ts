import { v7 as uuidv7 } from 'uuid';
import { isStored } from '../books/request.ts';
import { isOpen } from '../domain/hold.ts';
import { onHold, type Sender } from '../kinds/facts.ts';
import { send } from '../kinds/send.ts';
import { MOST_LOST, settle } from '../kinds/settle.ts';
import { callOverAt } from '../processor/processor.ts';
import { type Work, workOnce } from '../scheduling/work-loop.ts';
import { AT_ANY_PROCESSOR, type AtProcessor } from '../storage/at-processor.ts';
import { findRenewed, markOldReleased, type Renewed } from '../storage/hold/find-renewed.ts';
import { reconcilingSince } from '../storage/reconciling.ts';
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
    async find(limit, but) {
      if (await reconcilingSince(query)) return [];
      return findRenewed(query, { now: clock(), limit, but }, at);
    },
    handle: (renewed) => releaseOld(recovery, renewed),
  };
}

/** Releases what is due, once. Resolves with how many holds that were. */
export function releaseRenewed(recovery: Sender): Promise<number> {
  return workOnce(renewals(recovery));
}

/**
 * A release that is refused by the processor is not repeated: its result says so, and the hold stays until its end. One
 * that never arrived is made again, a few times: whoever sent it may have died before.
 */
async function releaseOld(sender: Sender, { requestId: old, idHash, status, renewedBy, renewalPhase }: Renewed) {
  const { query } = sender.database;
  const isLeft = renewalPhase === 'FAILED' || !isOpen({ status });
  if (isLeft || (await countLost(query, old, 'RELEASE')) >= MOST_LOST) return markOldReleased(query, renewedBy);
  const at = sender.clock();
  const requestId = uuidv7();
  const inquireAt = callOverAt(sender.processors, at);
  const stored = await sender.books.store({ kind: 'RELEASE', requestId, idHash, at, inquireAt });
  const { hold, amount = 0n } = stored;
  // Something else of the hold came first; it is looked at again.
  if (!isStored(stored) || !hold) return;
  const facts = { kind: 'RELEASE', requestId, ...onHold(hold), amount } as const;
  const settled = await settle(sender, facts, await send(sender, facts));
  if (settled.is === 'ENDED') await markOldReleased(query, renewedBy);
}
