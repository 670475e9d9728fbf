import type Stripe from 'stripe';
import type { Query } from '../../../platform/adapter/postgres/database.ts';
import { openReversals, type Reversal, reversalEvent } from '../../../platform/adapter/postgres/reversals.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { fromStripe } from '../amount.ts';
import type { Desk } from '../desk.ts';
import { addToEntry, type Entry, entriesOf, findEntry } from '../ledger/entry.ts';
import { insertEvent } from '../ledger/event.ts';
import { authorizationOf } from '../settlement/mark.ts';

const REVERSALS = openReversals('stripe');

/** What Stripe says of a payment. */
export interface Seen {
  readonly intent: Stripe.PaymentIntent;
  readonly refunds: readonly Stripe.Refund[];
  readonly disputes: readonly Stripe.Dispute[];
}

/** Money that is away from a charge now, or came back to it, otherwise than by a refund of ours. */
interface Movement {
  readonly id: string;
  /** Minor units. */
  readonly amount: bigint;
  readonly isAway: boolean;
}

/**
 * Finds disputes, and refunds made elsewhere, such as in Stripe's dashboard. An amount taken is reported as a reversal,
 * an amount given back as a reinstatement, each once.
 */
export async function reconcileReversals(desk: Desk, query: Query, requestId: string, seen: Seen): Promise<void> {
  const known = new Map((await REVERSALS.list(query, requestId)).map((reversal) => [reversal.reversalId, reversal]));
  for (const movement of movementsOf(desk, requestId, seen)) {
    const before = known.get(movement.id);
    const wasAway = before !== undefined && before.turn % 2 === 1;
    if (movement.isAway === wasAway) continue;
    const next = before ? { ...before, turn: before.turn + 1 } : await newReversal(desk, query, requestId, movement);
    if (next) await turn(desk, query, next);
  }
}

function movementsOf(desk: Desk, requestId: string, seen: Seen): Movement[] {
  const others = seen.refunds.filter(({ metadata }) => authorizationOf(metadata) === undefined);
  const refunds = others.map(({ id, amount, currency, status }) => {
    return { id, amount: fromStripe(amount, currency), isAway: status !== 'failed' && status !== 'canceled' };
  });
  const disputes = seen.disputes.flatMap((dispute) => {
    const { id, amount, currency } = dispute;
    if (currency === seen.intent.currency) return { id, amount: fromStripe(amount, currency), isAway: isLost(dispute) };
    // The amount is in another currency than the charge: what that is in the charge's, is not said.
    desk.log.error('books differ', { requestId, kind: 'dispute currency' });
    return [];
  });
  return [...refunds, ...disputes];
}

/**
 * Stripe withdraws the amount when a dispute opens, and gives it again when it is won; an inquiry before it moves
 * nothing.
 */
function isLost({ status }: Stripe.Dispute): boolean {
  return status !== 'won' && status !== 'prevented' && !status.startsWith('warning_');
}

/**
 * A reversal is of the capture when there is only one; else it is not known of which. It never exceeds what is left.
 */
async function newReversal(
  desk: Desk,
  query: Query,
  requestId: string,
  { id, amount }: Movement,
): Promise<Reversal | undefined> {
  const captures = await capturesOf(query, requestId);
  const capture = captures.length === 1 ? captures[0] : undefined;
  const authorization = await findEntry(query, requestId);
  const left = authorization ? leftOf(authorization, capture) : 0n;
  const taken = amount < left ? amount : left;
  if (taken <= 0n) {
    desk.log.error('books differ', { requestId, kind: 'reversal' });
    return undefined;
  }
  const captureRequestId = capture?.requestId ?? null;
  return { reversalId: id, authorizationRequestId: requestId, captureRequestId, amount: taken, turn: 1 };
}

function leftOf(authorization: Entry, capture: Entry | undefined): bigint {
  if (capture) return capture.amount - capture.refunded - capture.reversed;
  return authorization.captured - authorization.refunded - authorization.reversed;
}

async function turn(desk: Desk, query: Query, reversal: Reversal): Promise<void> {
  const { authorizationRequestId: requestId, captureRequestId, amount } = reversal;
  await REVERSALS.store(query, reversal);
  const change = { reversed: reversal.turn % 2 === 1 ? amount : -amount };
  await addToEntry(query, requestId, change);
  if (captureRequestId !== null) await addToEntry(query, captureRequestId, change);
  await insertEvent(query, { ...reversalEvent(reversal), requestId, occurredAt: desk.now() });
}

/** The captures of an authorization that were done. */
async function capturesOf(query: Query, authorizationRequestId: string): Promise<Entry[]> {
  const entries = await entriesOf(query, authorizationRequestId);
  return entries.filter(({ kind, answer }) => kind === 'capture' && answer === Answer.APPROVED);
}
