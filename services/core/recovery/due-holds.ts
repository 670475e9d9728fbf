import { isOpen } from '../domain/hold-rules.ts';
import { endHold, performBySystem } from '../kinds/end-hold.ts';
import { MOST_LOST } from '../kinds/judge-outcome.ts';
import { voidReplaced } from '../kinds/perform.ts';
import type { Sender } from '../kinds/sender.ts';
import { AT_ANY_PROCESSOR, type AtProcessor } from '../storage/at-processor.ts';
import type { Due } from '../storage/by-turns.ts';
import {
  type DueHold,
  findDueHolds,
  findHoldsToCapture,
  findHoldsToRenew,
  findHoldsToVoid,
  type HoldToVoid,
} from '../storage/hold/find-due-holds.ts';
import { findRenewed, markOldReleased, type Renewed } from '../storage/hold/find-renewed.ts';
import type { ReadHold } from '../storage/hold/read-holds.ts';
import { findExpiring } from '../storage/hold/tell-expiring.ts';
import { countLost } from '../storage/submission/read-submissions.ts';
import { SLOTS, type Work } from './work-loop.ts';

const EACH = {
  intervalMs: 500,
  slots: SLOTS,
  keyOf: ({ requestId }: { readonly requestId: string }) => requestId,
  merchantOf: ({ merchantId }: Due) => merchantId,
  /** Two workers may find the same: what each does with a hold is stored once. */
  take: async <Item>(found: readonly Item[]) => found,
};

/**
 * Gives back the remaining amount of holds whose period is over, and ends those whose authorization ended at the
 * processor. A hold with a capture in progress waits for its result. Frozen holds expire, too: the bank gives the money
 * back at the end of the period anyway. Freezing stops only a merchant's captures and releases.
 */
export function expiries(recovery: Sender, at: AtProcessor = AT_ANY_PROCESSOR): Work<DueHold> {
  const { clock, database } = recovery;
  return {
    ...EACH,
    name: 'expire-holds',
    find: (asked) => findDueHolds(database, { ...asked, now: clock() }, at),
    handle: (hold) => captureOrEnd(recovery, hold),
  };
}

/**
 * A capture that is due comes before the end that follows it, also when a late worker finds both. Its refusal means
 * that it is not due, or has to wait while the end has not: the hold is frozen.
 */
async function captureOrEnd(recovery: Sender, hold: DueHold): Promise<void> {
  const { idHash, captureAt, autoCaptureId } = hold;
  const mayCapture = captureAt !== null && autoCaptureId === null;
  if (mayCapture) {
    const { is } = await performBySystem(recovery, { kind: 'CAPTURE', idHash, automatic: true });
    if (is !== 'NOT_STORED') return;
  }
  await endHold(recovery, hold);
}

/**
 * Captures what remains of holds whose captureAt is due. The capture and its hold's mark are stored by one statement,
 * so two workers make one; one whose worker dies is settled by an inquiry, and made again if it never arrived. One that
 * a limit of the contract stops makes room for others.
 */
export function automaticCaptures(recovery: Sender, at: AtProcessor = AT_ANY_PROCESSOR): Work<DueHold> {
  const { clock, database } = recovery;
  return {
    ...EACH,
    name: 'capture-due',
    find: (asked) => findHoldsToCapture(database, { ...asked, now: clock() }, at),
    async handle({ idHash }) {
      const done = await performBySystem(recovery, { kind: 'CAPTURE', idHash, automatic: true });
      return done.is === 'NOT_STORED' && done.stored.outcome === 'LIMIT_EXCEEDED' ? 'LATER' : undefined;
    },
  };
}

/**
 * Renews the authorizations of holds that are kept. The renewal and its hold's mark are stored by one statement, so two
 * workers make one; one whose worker dies is settled by an inquiry.
 */
export function keptHolds(recovery: Sender, at: AtProcessor = AT_ANY_PROCESSOR): Work<DueHold> {
  const { clock, database } = recovery;
  return {
    ...EACH,
    name: 'renew-kept',
    find: (asked) => findHoldsToRenew(database, { ...asked, now: clock() }, at),
    async handle({ idHash }) {
      await performBySystem(recovery, { kind: 'RENEWAL', idHash });
    },
  };
}

/** Gives back what renewals have left: the authorizations before, or new ones that came too late. */
export function replacedAuthorizations(recovery: Sender, at: AtProcessor = AT_ANY_PROCESSOR): Work<HoldToVoid> {
  const { clock, database } = recovery;
  return {
    ...EACH,
    name: 'void-replaced',
    find: (asked) => findHoldsToVoid(database, { ...asked, now: clock() }, at),
    handle: (hold) => voidReplaced(recovery, hold),
  };
}

/** Tells merchants that holds end soon. */
export function expiringNotices(recovery: Sender, at: AtProcessor = AT_ANY_PROCESSOR): Work<ReadHold & Due> {
  const { clock, database, books } = recovery;
  return {
    ...EACH,
    name: 'notice-expiring',
    intervalMs: 1_000,
    slots: 50,
    find: (asked) => findExpiring(database, { ...asked, now: clock() }, at),
    async handle(hold) {
      await books.noticeExpiring(hold, clock());
    },
  };
}

/**
 * Releases holds that were renewed, after the new ones are placed and when nothing of the old ones is in flight: the
 * merchant is never without a hold because of us. What a failed renewal would have replaced stays.
 */
export function renewals(recovery: Sender, at: AtProcessor = AT_ANY_PROCESSOR): Work<Renewed & Due> {
  const { clock, database } = recovery;
  return {
    ...EACH,
    name: 'release-renewed',
    intervalMs: 250,
    keyOf: ({ renewedBy }) => renewedBy,
    find: (asked) => findRenewed(database, { ...asked, now: clock() }, at),
    handle: (renewed) => releaseOld(recovery, renewed),
  };
}

/**
 * A release that the processor refuses is not repeated: its result says so, and the hold stays until its end. A release
 * that never arrived is repeated a few times: its sender may have died.
 */
async function releaseOld(sender: Sender, renewed: Renewed) {
  const { requestId: holdRequestId, authorizationId, idHash, status, renewedBy, renewalPhase, isRefused } = renewed;
  const { query } = sender.database;
  const isLeft = renewalPhase === 'FAILED' || !isOpen({ status }) || isRefused;
  const release = { kind: 'RELEASE', holdRequestId, authorizationId } as const;
  if (isLeft || (await countLost(query, release)) >= MOST_LOST) return markOldReleased(query, renewedBy);
  // When something else of the hold came first, it is looked at again.
  const { is } = await performBySystem(sender, { kind: 'RELEASE', idHash });
  if (is === 'SETTLED') await markOldReleased(query, renewedBy);
}
