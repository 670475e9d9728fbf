import type Stripe from 'stripe';
import { bookTurn, firstTurn, type Reversal, reversalsOf } from '../../../platform/adapter/postgres/books.ts';
import type { Query } from '../../../platform/adapter/postgres/database.ts';
import type { Context } from '../adapter-context.ts';
import { fromStripe } from '../amount.ts';
import { entriesOf, findEntry } from '../ledger/entry.ts';
import { authorizationOf } from '../settlement/mark.ts';

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
export async function reconcileReversals(context: Context, query: Query, requestId: string, seen: Seen): Promise<void> {
  const known = new Map((await reversalsOf(query, requestId)).map((reversal) => [reversal.reversalId, reversal]));
  for (const movement of movementsOf(context, requestId, seen)) {
    const before = known.get(movement.id);
    const wasAway = before !== undefined && before.turn % 2 === 1;
    if (movement.isAway === wasAway) continue;
    const next = before ? { ...before, turn: before.turn + 1 } : await newReversal(context, query, requestId, movement);
    if (next) await bookTurn(query, next, context.now());
  }
}

function movementsOf(context: Context, requestId: string, seen: Seen): Movement[] {
  const others = seen.refunds.filter(({ metadata }) => authorizationOf(metadata) === undefined);
  const refunds = others.map(({ id, amount, currency, status }) => {
    return { id, amount: fromStripe(amount, currency), isAway: status !== 'failed' && status !== 'canceled' };
  });
  const disputes = seen.disputes.flatMap((dispute) => {
    const { id, amount, currency } = dispute;
    if (currency === seen.intent.currency) return { id, amount: fromStripe(amount, currency), isAway: isLost(dispute) };
    // The amount is in another currency than the charge: what that is in the charge's, is not said.
    context.log.error('books differ', { requestId, kind: 'dispute currency' });
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

/** A reversal never exceeds what is left of what was captured. */
async function newReversal(
  context: Context,
  query: Query,
  requestId: string,
  { id, amount }: Movement,
): Promise<Reversal | undefined> {
  const authorization = await findEntry(query, requestId);
  const first = authorization && firstTurn(authorization, await entriesOf(query, requestId), id, amount);
  if (!first) context.log.error('books differ', { requestId, kind: 'reversal' });
  return first;
}
