import { actUnasked } from '../kinds/end-hold.ts';
import type { Sender } from '../kinds/facts.ts';
import type { Work } from '../scheduling/work-loop.ts';
import { AT_ANY_PROCESSOR, type AtProcessor } from '../storage/at-processor.ts';
import { type DueHold, findHoldsToCapture } from '../storage/hold/find-due-holds.ts';

const SLOTS = 200;
const INTERVAL_MS = 500;

/**
 * Captures what remains of holds whose captureAt is due. The capture and its hold's mark are stored by one statement,
 * so two workers make one; one whose worker dies is settled by an inquiry, and made again if it never arrived. None
 * while the database is being reconciled: the capture may have been made, and be lost here.
 */
export function automaticCaptures(recovery: Sender, at: AtProcessor = AT_ANY_PROCESSOR): Work<DueHold> {
  const { clock, database } = recovery;
  return {
    name: 'capture-due',
    intervalMs: INTERVAL_MS,
    slots: SLOTS,
    keyOf: ({ requestId }) => requestId,
    find: (limit, but) => findHoldsToCapture(database.query, { now: clock(), limit, but }, at),
    async handle({ idHash }) {
      await actUnasked(recovery, { kind: 'CAPTURE', idHash, automatic: true });
    },
  };
}
