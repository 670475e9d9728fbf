import { OutcomeUnknown } from '../../../platform/adapter/serve.ts';
import { errorFields } from '../../../platform/log.ts';
import type { Context } from '../adapter-context.ts';
import { takeDueLooks } from '../ledger/look.ts';
import { reconcile } from './reconcile.ts';

/** So many in a turn of a second: a look is two or three requests, and Stripe takes 100 a second (25 of a test key). */
const AT_ONCE = 5;

/**
 * Looks at the payments that are due. Where webhooks arrive this finds nothing new; where none do, as on a laptop
 * without `stripe listen`, or while Stripe cannot reach the adapter, it finds what they would have announced.
 */
export async function lookAround(context: Context): Promise<void> {
  const due = await takeDueLooks(context.database.query, context.now(), AT_ONCE);
  await Promise.all(due.map((requestId) => lookAt(context, requestId)));
}

/** A payment that others work on is theirs to settle; its next look comes. */
async function lookAt(context: Context, requestId: string): Promise<void> {
  try {
    await context.leases.run(requestId, 0, () => reconcile(context, requestId));
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) context.log.error('look failed', errorFields(error));
  }
}
