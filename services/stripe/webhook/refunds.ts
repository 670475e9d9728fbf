import type Stripe from 'stripe';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Desk } from '../desk.ts';
import type { Query } from '../ledger/database.ts';
import { addToEntry, type Entry, endEntry, entriesOf } from '../ledger/entry.ts';
import { applySums, tellCore } from '../settlement/finish.ts';
import { endingOfRefund } from '../settlement/refund.ts';

/**
 * Ends refunds of ours that Stripe had taken only. One that failed after it had succeeded, as a card's bank may return
 * it, is taken back: core is told a result that contradicts the first, and raises the alarm.
 */
export async function reconcileRefunds(
  desk: Desk,
  query: Query,
  authorization: Entry,
  refunds: readonly Stripe.Refund[],
): Promise<void> {
  for (const entry of await entriesOf(query, authorization.requestId)) {
    const refund = entry.kind === 'refund' && refunds.find(({ id }) => id === entry.refundId);
    if (!refund) continue;
    const ending = endingOfRefund(refund, desk.now());
    if (ending.answer === entry.answer || ending.answer === Answer.ACCEPTED) continue;
    const wasDone = entry.answer === Answer.APPROVED;
    if (wasDone) await takeBack(query, entry);
    const ended = await endEntry(query, entry.requestId, [wasDone ? 'ended' : 'sent'], ending);
    if (!ended) continue;
    await applySums(query, ended);
    await tellCore(query, ended);
  }
}

async function takeBack(query: Query, { amount, authorizationRequestId, captureRequestId }: Entry): Promise<void> {
  for (const requestId of [authorizationRequestId, captureRequestId]) {
    if (requestId !== null) await addToEntry(query, requestId, { refunded: -amount });
  }
}
