import type { Sender } from '../kinds/facts.ts';
import type { Work } from '../scheduling/work-loop.ts';
import { AT_ANY_PROCESSOR, type AtProcessor } from '../storage/at-processor.ts';
import type { ReadHold } from '../storage/hold/read-holds.ts';
import { findExpiring } from '../storage/hold/tell-expiring.ts';

const SLOTS = 50;
const INTERVAL_MS = 1_000;

/**
 * Tells merchants that holds end soon. None while the database is being reconciled: a capture of the hold may be lost
 * here.
 */
export function expiringNotices(recovery: Sender, at: AtProcessor = AT_ANY_PROCESSOR): Work<ReadHold> {
  const { clock, database, books } = recovery;
  return {
    name: 'notice-expiring',
    intervalMs: INTERVAL_MS,
    slots: SLOTS,
    keyOf: ({ requestId }) => requestId,
    find: (limit, but) => findExpiring(database.query, clock(), limit, but, at),
    async handle(hold) {
      await books.noticeExpiring(hold, clock());
    },
  };
}
