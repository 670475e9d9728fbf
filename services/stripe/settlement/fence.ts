import { notPerformed } from '../../../platform/adapter/ending.ts';
import { type Context, requestOptions } from '../adapter-context.ts';
import { ask } from '../api/ask.ts';
import { type Ending, type Entry, markEntry } from '../ledger/entry.ts';
import { finish } from './finish.ts';
import { getIntent } from './intent-ending.ts';

/**
 * Makes sure that an authorization that is not confirmed never will be: its PaymentIntent is cancelled, after which
 * Stripe confirms it no more. The decision is stored first, so that no other process ends it as approved meanwhile.
 * Returns undefined while that is not certain.
 */
export async function fenceIntent(
  context: Context,
  entry: Entry,
  ending: Ending = notPerformed('never_confirmed', 'The payment was cancelled before it was confirmed.'),
): Promise<Entry | undefined> {
  const { requestId, account, intentId } = entry;
  const fencing = await markEntry(context.database.query, requestId, ['sent', 'fencing'], { stage: 'fencing' });
  if (!fencing) return undefined;
  context.reach('fence stored');
  await ask(context, () =>
    context.stripe.paymentIntents.cancel(intentId as string, {}, requestOptions(account, `${requestId}:fence`)),
  );
  context.reach('fence answered');
  const { answer: intent } = await ask(context, () => getIntent(context, entry));
  if (intent?.status !== 'canceled') return undefined;
  return finish(context, entry, ending, { from: ['fencing'] });
}
