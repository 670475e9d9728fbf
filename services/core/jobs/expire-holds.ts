import { v7 as uuidv7 } from 'uuid';
import { callOverAt } from '../processor/processor.ts';
import { settleAttempt } from '../settlement/settle-attempt.ts';
import { settleVoid } from '../settlement/settle-void.ts';
import type { Statement } from '../storage/database.ts';
import { eachAlone } from './each-alone.ts';
import { AFTER_SILENCE_MS, type Recovery } from './inquire.ts';

const BATCH = 100;

/**
 * Gives back what remains of holds whose period is over, and gives up checkouts that ran out. A hold with a capture on its way is
 * left until that has its result. Answers how many were looked at.
 */
export async function expireHolds(recovery: Recovery): Promise<number> {
  const now = recovery.clock();
  const { query } = recovery.database;
  const due = await query<{ request_id: string; phase: string }>(FIND_DUE, [now, BATCH]);
  await eachAlone(due, ({ request_id, phase }) =>
    phase === 'AUTHORIZED' ? expire(recovery, request_id) : expireCheckout(recovery, request_id),
  );
  return due.length;
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
