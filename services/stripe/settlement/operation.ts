import type Stripe from 'stripe';
import { mismatch, NOT_FOUND } from '../../../platform/adapter/authorization.ts';
import { notPerformed } from '../../../platform/adapter/ending.ts';
import { LARGEST_AMOUNT } from '../../../platform/adapter/entry.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Context } from '../adapter-context.ts';
import { fromStripe, toStripe } from '../amount.ts';
import { ENTRIES, type Ending, type Entry, type Intent } from '../ledger/entry.ts';
import { getIntent, isExpired } from './intent-ending.ts';
import { hasMark, MOST_MARKS } from './mark.ts';

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
  read(answer: T, entry: Entry, authorization: Entry): Ending;
  /** Looks whether it was done: reads the objects it would have changed, never a search, which lags. */
  look(context: Context, entry: Entry, authorization: Entry): Promise<Ending | 'absent'>;
}

/** An operation that Stripe does to the PaymentIntent itself, and that leaves its mark there. */
interface IntentOperation extends Pick<Operation<Stripe.PaymentIntent>, 'judge' | 'baseline' | 'send'> {
  /** How it ended, of a PaymentIntent to which it was done. */
  ending(intent: Stripe.PaymentIntent, entry: Entry, authorization: Entry): Ending;
  /** Says that it was done, where a mark is not the only sign. */
  isDone?(intent: Stripe.PaymentIntent): boolean;
}

/** The PaymentIntent is the answer, and is read again to find out whether it was done. */
export function onIntent({ ending, isDone, ...operation }: IntentOperation): Operation<Stripe.PaymentIntent> {
  return {
    ...operation,
    read: ending,
    async look(context, entry, authorization) {
      const intent = await getIntent(context, authorization);
      if (hasMark(intent, entry.requestId) || isDone?.(intent)) return ending(intent, entry, authorization);
      return endedThere(intent) ?? 'absent';
    },
  };
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
  const entries = await ENTRIES.ofAuthorization(context.database.query, authorization.requestId);
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
function endedThere(intent: Stripe.PaymentIntent): Ending | undefined {
  if (intent.status === 'requires_capture') return undefined;
  if (isExpired(intent)) return notPerformed('authorization_expired', 'The authorization has ended.');
  if (intent.status === 'canceled') return notPerformed('authorization_voided', 'The authorization was cancelled.');
  return notPerformed('authorization_closed', 'The authorization is closed.');
}
