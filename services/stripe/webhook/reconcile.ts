import type Stripe from 'stripe';
import { remainingOf } from '../../../platform/adapter/authorization.ts';
import {
  bookEnd,
  bookReturn,
  bookTurn,
  type Reversal,
  reversalsOf,
  takingTurn,
} from '../../../platform/adapter/postgres/books.ts';
import type { Query } from '../../../platform/adapter/postgres/database.ts';
import { AuthorizationEnd } from '../../../proto/gen/holdfast/processor/v1/event_pb.js';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Context } from '../adapter-context.ts';
import { fromStripe } from '../amount.ts';
import { ask } from '../api/ask.ts';
import { ENTRIES, type Entry, insertUnfenced, intentOf } from '../ledger/entry.ts';
import { findAuthorization, settleOthers } from '../settlement/advance.ts';
import { settleByLook } from '../settlement/authorization.ts';
import { settleCheckout } from '../settlement/checkout.ts';
import { endEntry } from '../settlement/finish.ts';
import { endingOf, getIntent, isExpired } from '../settlement/intent-ending.ts';
import { endingOfRefund } from '../settlement/refund.ts';
import { isAwaitingCustomer, settleStepUp } from '../settlement/step-up.ts';
import { look, ownRefundOf } from './look.ts';
import { bookDone, changedOf, reconcileOperations, type Sight } from './operations.ts';

/**
 * Brings the ledger to what Stripe says of an authorization now, and reports to core what Stripe did by itself. It may
 * run at any time and any number of times: all it does follows from what is, not from what was announced. The lease of
 * the authorization must be held. Throws OutcomeUnknown; answers false when Stripe did not answer.
 */
export async function reconcile(context: Context, requestId: string): Promise<boolean> {
  const stored = await findAuthorization(context, requestId);
  const entry = stored && stored.stage !== 'ended' ? await settleFirst(context, stored) : stored;
  if (!entry || entry.intentId === null || isAwaitingCustomer(entry)) return true;
  if (entry.answer !== Answer.APPROVED) return reconcileRefused(context, entry);
  const authorization = await settleOthers(context, requestId);
  const { answer: seen } = await ask(context, () => look(context, authorization));
  if (!seen) return false;
  await context.database.transaction(async (query) => {
    const sight = { ...seen, context, query, authorization };
    const isForeign = await reconcileOperations(sight);
    await reconcileEnd(sight, isForeign);
    await reconcileRefunds(sight);
    await reconcileReversals(sight);
  });
  context.onEvent();
  return true;
}

/**
 * An authorization that the ledger says was not made, and that Stripe made, is reported to core, which gives it back.
 */
async function reconcileRefused(context: Context, entry: Entry): Promise<boolean> {
  const { answer: intent } = await ask(context, () => getIntent(context, entry));
  if (!intent) return false;
  const ending = endingOf(intent, entry);
  if (ending?.answer !== Answer.APPROVED) return true;
  context.log.error('books differ', { requestId: entry.requestId, kind: entry.kind });
  await context.database.transaction((query) => bookDone(context, query, entry, ending, entry));
  context.onEvent();
  return true;
}

/** An authorization whose own call is not over, or lost its answer, is settled; undefined while it has no end. */
async function settleFirst(context: Context, entry: Entry): Promise<Entry | undefined> {
  if (entry.kind === 'checkout') return settleCheckout(context, entry, { tell: true });
  if (isAwaitingCustomer(entry)) return settleStepUp(context, entry);
  return entry.stage === 'sent' ? settleByLook(context, entry, { tell: true }) : undefined;
}

/** Stripe ended the authorization, by its time or by a hand other than ours: what was left is not reserved any more. */
async function reconcileEnd(sight: Sight, isForeign: boolean): Promise<void> {
  const { context, query, intent } = sight;
  const authorization = await changedOf(sight);
  const left = remainingOf(authorization);
  const isOver = intent.status === 'canceled' || intent.status === 'succeeded';
  if (!isOver || authorization.endedAt !== null || (left === 0n && !isForeign)) return;
  // Of one that was captured in part Stripe says no reason.
  const isOverdue = authorization.expiresAt !== null && authorization.expiresAt <= context.now();
  const isEnded = isExpired(intent) || (intent.status === 'succeeded' && isOverdue);
  const how = isEnded ? AuthorizationEnd.EXPIRED : AuthorizationEnd.VOIDED;
  const at = intent.canceled_at === null ? context.now() : new Date(intent.canceled_at * 1000);
  await bookEnd(query, authorization.requestId, { how, at, left, reference: intent.id });
}

/**
 * Ends refunds of ours that Stripe had taken only. One that failed after it had succeeded came back: the card's bank
 * returned it, which Stripe says days later.
 */
async function reconcileRefunds({ context, query, authorization, refunds }: Sight): Promise<void> {
  for (const refund of refunds) {
    const entry = await entryOfRefund(query, authorization, refund);
    if (!entry) continue;
    const ending = endingOfRefund(refund);
    if (ending.answer === entry.answer || ending.answer === Answer.ACCEPTED) continue;
    if (entry.answer === Answer.APPROVED) {
      await bookReturn(query, entry, { reference: refund.id, at: context.now() });
      continue;
    }
    await endEntry(query, entry, ending, context.now(), { from: ['stored', 'sent', 'ended'], tell: true });
  }
}

/** The entry of a refund of ours; one whose entry is lost gets a new one. */
async function entryOfRefund(query: Query, authorization: Entry, refund: Stripe.Refund): Promise<Entry | undefined> {
  const { requestId: authorizationRequestId, merchantId, account, currency } = authorization;
  const requestId = ownRefundOf(refund);
  if (requestId === undefined) return undefined;
  const known = await ENTRIES.find(query, requestId);
  if (known && known.kind !== 'fence') return known;
  const amount = fromStripe(refund.amount, refund.currency);
  const captureRequestId = refund.metadata?.holdfast_capture_id || null;
  const about = { requestId, authorizationRequestId, captureRequestId, merchantId, account, currency, amount };
  return insertUnfenced(query, intentOf('refund', about));
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
async function reconcileReversals(sight: Sight): Promise<void> {
  const { context, query, authorization } = sight;
  const known = await reversalsOf(query, authorization.requestId);
  for (const movement of movementsOf(sight)) {
    const before = known.find(({ reversalId }) => reversalId === movement.id);
    const wasAway = before !== undefined && before.turn % 2 === 1;
    if (movement.isAway === wasAway) continue;
    const next = before && wasAway ? { ...before, turn: before.turn + 1 } : await taking(sight, movement, before);
    if (next) await bookTurn(query, next, context.now());
  }
}

function movementsOf({ context, authorization, intent, ...seen }: Sight): Movement[] {
  const others = seen.refunds.filter((refund) => ownRefundOf(refund) === undefined);
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

/**
 * A reversal never exceeds what is left of what was captured. One that finds nothing left, or that a refund without a
 * result holds back, is tried at the next look.
 */
async function taking(sight: Sight, { id, amount }: Movement, before?: Reversal): Promise<Reversal | undefined> {
  const authorization = await changedOf(sight);
  const { requestId } = authorization;
  const entries = await ENTRIES.ofAuthorization(sight.query, requestId);
  const turn = takingTurn(authorization, entries, { reversalId: id, amount, before });
  if (!turn) sight.context.log.error('books differ', { requestId, kind: 'reversal' });
  return turn;
}
