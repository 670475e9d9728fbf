import type Stripe from 'stripe';
import { AuthorizationEnd } from '../../../proto/gen/holdfast/processor/v1/event_pb.js';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { fromStripe } from '../amount.ts';
import { ask } from '../api/ask.ts';
import { type Desk, requestOptions } from '../desk.ts';
import type { Query } from '../ledger/database.ts';
import { addToEntry, type Entry, endEntry, entriesOf } from '../ledger/entry.ts';
import { insertEvent } from '../ledger/event.ts';
import { findAuthorization, settleOthers } from '../settlement/advance.ts';
import { settleByLook } from '../settlement/authorization.ts';
import { settleCheckout } from '../settlement/checkout.ts';
import { applySums, tellCore } from '../settlement/finish.ts';
import { getIntent, isExpired } from '../settlement/intent-ending.ts';
import { remainingOf } from '../settlement/operation.ts';
import { endingOfRefund } from '../settlement/refund.ts';
import { reconcileReversals, type Seen } from './reversals.ts';

/**
 * Brings the ledger to what Stripe says of an authorization now, and reports to core what Stripe did by itself. It may
 * run at any time and any number of times: all it does follows from what is, not from what was announced. The lease of
 * the authorization must be held. Throws OutcomeUnknown; answers false when Stripe did not answer.
 */
export async function reconcile(desk: Desk, requestId: string): Promise<boolean> {
  const entry = await findAuthorization(desk, requestId);
  if (!entry) return true;
  if (entry.stage !== 'ended') return settleFirst(desk, entry);
  if (entry.answer !== Answer.APPROVED || entry.intentId === null) return true;
  const authorization = await settleOthers(desk, requestId);
  const { answer: seen } = await ask(() => look(desk, authorization), desk.patience);
  if (!seen) return false;
  await desk.database.transaction(async (query) => {
    await reconcileEnd(desk, query, authorization, seen.intent);
    await reconcileRefunds(desk, query, authorization, seen.refunds);
    await reconcileReversals(desk, query, requestId, seen);
  });
  desk.onEvent();
  return true;
}

async function look(desk: Desk, authorization: Entry): Promise<Seen> {
  const options = requestOptions(authorization.account);
  const about = { payment_intent: authorization.intentId as string, limit: 100 };
  const intent = await getIntent(desk, authorization);
  // Only what was captured can have been refunded or disputed.
  if (intent.amount_received === 0) return { intent, refunds: [], disputes: [] };
  const refunds = await desk.stripe.refunds.list(about, options).autoPagingToArray({ limit: 1_000 });
  const disputes = await desk.stripe.disputes.list(about, options).autoPagingToArray({ limit: 1_000 });
  return { intent, refunds, disputes };
}

/** An authorization whose own call is not over, or lost its answer, is settled; what followed comes with the next event. */
async function settleFirst(desk: Desk, entry: Entry): Promise<boolean> {
  if (entry.kind === 'checkout') await settleCheckout(desk, entry, true);
  else if (entry.stage === 'sent') await settleByLook(desk, entry, true);
  return true;
}

/** Stripe ended the authorization, by its time or by a hand other than ours: what was left is not reserved any more. */
async function reconcileEnd(desk: Desk, query: Query, authorization: Entry, intent: Stripe.PaymentIntent) {
  const { requestId } = authorization;
  const received = fromStripe(intent.amount_received, intent.currency);
  if (received !== authorization.captured) {
    desk.log.error('books differ', { requestId, kind: 'captured' });
    return;
  }
  const left = remainingOf(authorization);
  const isOver = intent.status === 'canceled' || intent.status === 'succeeded';
  if (!isOver || authorization.endedAt !== null || left === 0n) return;
  // Of one that was captured in part Stripe says no reason.
  const isOverdue = authorization.expiresAt !== null && authorization.expiresAt <= desk.now();
  const isEnded = isExpired(intent) || (intent.status === 'succeeded' && isOverdue);
  const end = isEnded ? AuthorizationEnd.EXPIRED : AuthorizationEnd.VOIDED;
  const at = intent.canceled_at === null ? desk.now() : new Date(intent.canceled_at * 1000);
  await addToEntry(query, requestId, { voided: left, endedAt: at, endedHow: end });
  const value = { requestId, end, amount: left, reference: intent.id };
  const event = { case: 'authorizationEnded', value } as const;
  await insertEvent(query, { eventId: `ended-${requestId}`, requestId, occurredAt: at, event });
}

/**
 * Ends refunds of ours that Stripe had taken only. One that failed after it had succeeded, as a card's bank may return
 * it, is taken back: core gets a result that contradicts the first, and raises an alert.
 */
async function reconcileRefunds(
  desk: Desk,
  query: Query,
  authorization: Entry,
  refunds: readonly Stripe.Refund[],
): Promise<void> {
  for (const entry of await entriesOf(query, authorization.requestId)) {
    const refund = entry.kind === 'refund' && refunds.find(({ id }) => id === entry.refundId);
    if (!refund) continue;
    const now = desk.now();
    const ending = endingOfRefund(refund, now);
    if (ending.answer === entry.answer || ending.answer === Answer.ACCEPTED) continue;
    const wasDone = entry.answer === Answer.APPROVED;
    if (wasDone) await takeBack(query, entry);
    const ended = await endEntry(query, entry.requestId, [wasDone ? 'ended' : 'sent'], ending, now);
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
