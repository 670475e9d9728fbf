import type Stripe from 'stripe';
import { bookTurn, firstTurn, type Reversal, reversalsOf } from '../../../platform/adapter/postgres/books.ts';
import { fromStripe } from '../amount.ts';
import { ENTRIES } from '../ledger/entry.ts';
import { authorizationOf } from '../settlement/mark.ts';
import { changedOf, type Sight } from './operations.ts';

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
export async function reconcileReversals(sight: Sight): Promise<void> {
  const { context, query, authorization } = sight;
  const known = await reversalsOf(query, authorization.requestId);
  for (const movement of movementsOf(sight)) {
    const before = known.find(({ reversalId }) => reversalId === movement.id);
    const wasAway = before !== undefined && before.turn % 2 === 1;
    if (movement.isAway === wasAway) continue;
    const next = before ? { ...before, turn: before.turn + 1 } : await newReversal(sight, movement);
    if (next) await bookTurn(query, next, context.now());
  }
}

function movementsOf({ context, authorization, intent, ...seen }: Sight): Movement[] {
  const others = seen.refunds.filter(({ metadata }) => authorizationOf(metadata) === undefined);
  const refunds = others.map(({ id, amount, currency, status }) => {
    return { id, amount: fromStripe(amount, currency), isAway: status !== 'failed' && status !== 'canceled' };
  });
  const disputes = seen.disputes.flatMap((dispute) => {
    const { id, amount, currency } = dispute;
    if (currency === intent.currency) return { id, amount: fromStripe(amount, currency), isAway: isLost(dispute) };
    // The amount is in another currency than the charge: what that is in the charge's, is not said.
    context.log.error('books differ', { requestId: authorization.requestId, kind: 'dispute currency' });
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
async function newReversal(sight: Sight, { id, amount }: Movement): Promise<Reversal | undefined> {
  const authorization = await changedOf(sight);
  const { requestId } = authorization;
  const first = firstTurn(authorization, await ENTRIES.ofAuthorization(sight.query, requestId), id, amount);
  if (!first) sight.context.log.error('books differ', { requestId, kind: 'reversal' });
  return first;
}
