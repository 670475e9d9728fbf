import type Stripe from 'stripe';
import type { Query } from '../../../platform/adapter/postgres/database.ts';
import type { Context } from '../adapter-context.ts';
import { fromStripe } from '../amount.ts';
import { ENTRIES, type Entry, type Intent, insertUnfenced, intentOf } from '../ledger/entry.ts';
import { authorizationOf, marksOf } from '../settlement/mark.ts';

/**
 * Stores the authorization that a PaymentIntent says it is for, when the ledger does not have it, has only fenced it, or
 * does not know its PaymentIntent: the ledger may have been restored to an earlier state. Returns its entry; undefined
 * when the PaymentIntent is none of ours.
 */
export async function adoptIntent(context: Context, intent: Stripe.PaymentIntent, account: string) {
  const about = authorizationOf(intent.metadata);
  if (!about) return undefined;
  const added = marksOf(intent).filter(({ kind }) => kind === 'increment');
  const amount = added.reduce((sum, mark) => sum - mark.amount, fromStripe(intent.amount, intent.currency));
  const asked = intentOf('authorization', { ...about, account, amount, currency: intent.currency.toUpperCase() });
  return adopt(context, asked, { sentAt: new Date(intent.created * 1000), intentId: intent.id });
}

/** Stores the checkout that a Checkout Session says it is for, as adoptIntent does. */
export async function adoptSession(context: Context, session: Stripe.Checkout.Session, account: string) {
  const about = authorizationOf(session.metadata);
  if (!about || session.amount_total === null || session.currency === null) return undefined;
  const amount = fromStripe(session.amount_total, session.currency);
  const saveCard = session.customer_creation === 'always';
  const asked = intentOf('checkout', { ...about, account, amount, currency: session.currency.toUpperCase(), saveCard });
  const sentAt = new Date(session.created * 1000);
  return adopt(context, asked, { sentAt, lookAt: sentAt, sessionId: session.id });
}

async function adopt(context: Context, asked: Intent, state: Partial<Entry>): Promise<Entry | undefined> {
  const { requestId, kind } = asked;
  return context.database.transaction(async (query) => {
    const adopted = await insertUnfenced(query, asked, { ...state, stage: 'sent' });
    if (!adopted) return (await complete(query, asked, state)) ?? ENTRIES.find(query, requestId);
    context.log.error('books differ', { requestId, kind });
    return adopted;
  });
}

/** Adds what an entry lacks that was stored, and of which nothing was known at Stripe; undefined when it lacks nothing. */
function complete(query: Query, { requestId, kind, account }: Intent, state: Partial<Entry>) {
  const where = `request_id = $1 AND kind = $2 AND account = $3 AND intent_id IS NULL AND session_id IS NULL
    AND stage IN ('stored', 'sent')`;
  return ENTRIES.update(query, where, [requestId, kind, account], { ...state, stage: 'sent' });
}
