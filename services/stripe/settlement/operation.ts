import type Stripe from 'stripe';
import { mismatch, NOT_FOUND } from '../../../platform/adapter/authorization.ts';
import { notPerformed } from '../../../platform/adapter/ending.ts';
import { LARGEST_AMOUNT } from '../../../platform/adapter/entry.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Context } from '../adapter-context.ts';
import { fromStripe, toStripe } from '../amount.ts';
import { type Ending, type Entry, entriesOf, type Intent } from '../ledger/entry.ts';
import { isExpired } from './intent-ending.ts';
import { MOST_MARKS } from './mark.ts';

/** How an operation ended, with the refund that it made. */
interface Ended {
  readonly ending: Ending;
  readonly refundId?: string;
}

/** A kind of operation on an authorization, as Stripe does it. One at a time is under way on each authorization. */
export interface Operation<T = unknown> {
  /** Returns the ending when it ends without Stripe; undefined when Stripe decides. */
  judge(intent: Intent, authorization: Entry, context: Context): Promise<Ending | undefined>;
  /**
   * What is stored with the intent, because what is sent again must be the same: of an increment, the amount before it.
   */
  baseline?(authorization: Entry): bigint;
  /** Sends it to Stripe, under the identifier as the idempotency key. */
  send(context: Context, entry: Entry, authorization: Entry): Promise<T>;
  /** How it ended when Stripe answered. */
  read(answer: T, entry: Entry, authorization: Entry): Ended;
  /** Looks whether it was done: reads the objects it would have changed, never a search, which lags. */
  look(context: Context, entry: Entry, authorization: Entry): Promise<Ended | 'absent'>;
}

/** Why nothing can be done with an authorization, or undefined. */
export function unusable(authorization: Entry, intent: Intent): Ending | undefined {
  const isPlaced = authorization.stage === 'ended' && authorization.answer === Answer.APPROVED;
  return isPlaced ? mismatch(authorization, intent) : NOT_FOUND;
}

/**
 * Stripe counts some currencies otherwise than ISO 4217; what has no exact counterpart, or is too large, is refused.
 */
export function amountRefusal({ amount, currency }: Pick<Intent, 'amount' | 'currency'>) {
  if (amount <= LARGEST_AMOUNT && toStripe(amount, currency) !== undefined) return undefined;
  const message = `Stripe does not take this amount in ${currency}, or does not document how it counts it.`;
  return notPerformed('amount_not_supported', message);
}

/** Refuses more operations than a PaymentIntent can name in its metadata; undefined while there is room. */
export async function tooMany(context: Context, authorization: Entry): Promise<Ending | undefined> {
  const entries = await entriesOf(context.database.query, authorization.requestId);
  const marked = entries.filter(
    ({ kind, answer }) => (kind === 'capture' || kind === 'increment') && answer === Answer.APPROVED,
  );
  if (marked.length < MOST_MARKS) return undefined;
  return notPerformed('not_supported', `This authorization takes ${MOST_MARKS} captures and increments.`);
}

/** What of a PaymentIntent is not captured, minor units. */
export function uncapturedOf({ amount, amount_received: received, currency }: Stripe.PaymentIntent): bigint {
  return fromStripe(amount - received, currency);
}

/** Why nothing can be done about an authorization that Stripe ended. */
export function endedThere(intent: Stripe.PaymentIntent): Ended | undefined {
  if (intent.status === 'requires_capture') return undefined;
  if (isExpired(intent)) return { ending: notPerformed('authorization_expired', 'The authorization has ended.') };
  if (intent.status === 'canceled') {
    return { ending: notPerformed('authorization_voided', 'The authorization was cancelled.') };
  }
  return { ending: notPerformed('authorization_closed', 'The authorization is closed.') };
}
