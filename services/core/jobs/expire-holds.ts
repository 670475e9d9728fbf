import { v7 as uuidv7 } from 'uuid';
import { callOverAt } from '../processor/processor.ts';
import { settleAttempt } from '../settlement/settle-attempt.ts';
import { settleVoid } from '../settlement/settle-void.ts';
import type { Statement } from '../storage/database.ts';
import { AFTER_SILENCE_MS, type Recovery } from './inquire.ts';
import { type Work, workOnce } from './work-loop.ts';

const SLOTS = 200;
const INTERVAL_MS = 500;

interface DueHold {
  readonly request_id: string;
  readonly phase: string;
}

/**
 * Gives back what remains of holds whose period is over, and gives up checkouts that ran out. A hold with a capture on its way is
 * left until that has its result. A frozen hold expires like any other: at the end of its period the bank gives the money back whatever
 * we say; freezing stops only what a merchant asks for, captures and releases.
 */
export function expiries(recovery: Recovery): Work<DueHold> {
  return {
    name: 'expire-holds',
    intervalMs: INTERVAL_MS,
    slots: SLOTS,
    keyOf: ({ request_id }) => request_id,
    find: (limit) => recovery.database.query<DueHold>(FIND_DUE, [recovery.clock(), Math.ceil(limit / 2)]),
    handle: ({ request_id, phase }) =>
      phase === 'AUTHORIZED' ? expire(recovery, request_id) : expireCheckout(recovery, request_id),
  };
}

/** Expires what is due, once. Resolves with how many holds that were. */
export function expireHolds(recovery: Recovery): Promise<number> {
  return workOnce(expiries(recovery));
}

/** The customer may have finished in the last second: looks first, and fences, so that no page can be opened any more. */
async function expireCheckout(recovery: Recovery, requestId: string): Promise<void> {
  const answer = await recovery.processor.inquire(requestId);
  if (answer.found === 'DONE') return settleAttempt(recovery, 'hold', requestId, answer.outcome);
  if (answer.found === 'NO_ANSWER') return;
  await expire(recovery, requestId);
}

async function expire(recovery: Recovery, holdRequestId: string): Promise<void> {
  const at = recovery.clock();
  const requestId = uuidv7();
  const inquireAt = callOverAt(recovery.processor, at);
  const reservation = await recovery.books.reserveRelease({
    requestId,
    holdRequestId,
    reason: 'EXPIRED',
    at,
    inquireAt,
  });
  if (!reservation.reserved) return;
  recovery.reach('expiry reserved');
  const outcome = await recovery.processor.void(requestId, holdRequestId);
  recovery.reach('expiry answered');
  if (outcome.answer === 'UNKNOWN') {
    const soon = new Date(recovery.clock().getTime() + AFTER_SILENCE_MS);
    await recovery.books.markUnknown('release', requestId, soon);
  } else await settleVoid(recovery, requestId, outcome);
}

const FIND_DUE: Statement = {
  name: 'find-due-holds',
  text: `(select request_id, phase from hold
      where status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') and phase = 'AUTHORIZED' and expires_at <= $1
        and in_flight = 0 and not closing
      order by expires_at limit $2)
    union all
    (select request_id, phase from hold
      where phase = 'AWAITING_CHECKOUT' and checkout_expires_at <= $1 and not closing
      order by checkout_expires_at limit $2)`,
};
