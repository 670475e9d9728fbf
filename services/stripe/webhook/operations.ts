import type Stripe from 'stripe';
import { v5 as uuidv5 } from 'uuid';
import { remainingOf } from '../../../platform/adapter/authorization.ts';
import { approved } from '../../../platform/adapter/ending.ts';
import { tellForeignCapture } from '../../../platform/adapter/postgres/books.ts';
import type { Query } from '../../../platform/adapter/postgres/database.ts';
import { aboutOf } from '../../../platform/adapter/postgres/entries.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Context } from '../adapter-context.ts';
import { fromStripe } from '../amount.ts';
import { ENTRIES, type Ending, type Entry, type Intent, insertUnfenced, intentOf } from '../ledger/entry.ts';
import { capturedBy } from '../settlement/capture.ts';
import { endEntry } from '../settlement/finish.ts';
import { incrementedBy } from '../settlement/increment.ts';
import { type Mark, marksOf } from '../settlement/mark.ts';

/** What Stripe says of a payment, and the transaction that books it. */
export interface Sight {
  readonly context: Context;
  readonly query: Query;
  /** As it was before the transaction. */
  readonly authorization: Entry;
  readonly intent: Stripe.PaymentIntent;
  readonly refunds: readonly Stripe.Refund[];
  readonly disputes: readonly Stripe.Dispute[];
}

/** The authorization with the sums that the transaction has changed. */
export async function changedOf({ query, authorization }: Sight): Promise<Entry> {
  return (await ENTRIES.find(query, authorization.requestId)) ?? authorization;
}

/**
 * Books what was done to a PaymentIntent and is not in the ledger as done: an operation of ours whose entry was lost,
 * or said that it was not done; and a capture by somebody else. Core is told of each. Returns whether somebody else
 * captured.
 */
export async function reconcileOperations(sight: Sight): Promise<boolean> {
  const { context, query, authorization, intent } = sight;
  const { requestId } = authorization;
  for (const mark of marksOf(intent)) {
    const known = await ENTRIES.find(query, mark.requestId);
    // The call of an operation that has not ended finds it out by itself.
    if (known?.answer === Answer.APPROVED || (known && known.stage !== 'ended')) continue;
    context.log.error('books differ', { requestId: mark.requestId, holdRequestId: requestId, kind: mark.kind });
    await bookDone(context, query, intentOfMark(mark, authorization), endingOf(mark, authorization, intent), known);
  }
  const entries = await ENTRIES.ofAuthorization(query, requestId);
  if (entries.some(({ kind, stage }) => kind === 'capture' && stage !== 'ended')) return false;
  return bookForeignCapture(sight);
}

/** Books an operation as done, whatever its entry said, and reports it to core. */
export async function bookDone(context: Context, query: Query, intent: Intent, ending: Ending, known?: Entry) {
  if (!known || known.kind === 'fence') await insertUnfenced(query, intent);
  await endEntry(query, intent, ending, context.now(), { from: ['stored', 'ended'], tell: true });
}

function intentOfMark(mark: Mark, authorization: Entry): Intent {
  const { terminalId, userId, tokenId, ...about } = aboutOf(authorization);
  const { requestId, kind, amount, isFinal: finalCapture } = mark;
  if (kind === 'void') return intentOf('void', { ...about, requestId, currency: '' });
  if (kind === 'increment') return intentOf('increment', { ...about, requestId, amount });
  return intentOf('capture', { ...about, requestId, amount, finalCapture, terminalId, userId, tokenId });
}

function endingOf({ kind, isFinal, amount }: Mark, authorization: Entry, intent: Stripe.PaymentIntent): Ending {
  if (kind === 'capture') return capturedBy(intent, isFinal);
  return kind === 'increment'
    ? incrementedBy(intent, authorization)
    : approved({ reference: intent.id, released: amount });
}

/** A namespace for the identifiers of captures that are not ours. */
const FOREIGN = '7b0c4a52-52c1-4f2c-9d4e-0f6f6d7f1c11';

/** What Stripe has captured beyond our captures was captured by somebody else, in Stripe's dashboard for example. */
async function bookForeignCapture(sight: Sight): Promise<boolean> {
  const { context, query, intent } = sight;
  const authorization = await changedOf(sight);
  const received = fromStripe(intent.amount_received, intent.currency);
  const amount = received - authorization.captured;
  if (amount === 0n) return false;
  context.log.error('books differ', { requestId: authorization.requestId, kind: 'captured' });
  if (amount < 0n || amount > remainingOf(authorization)) return false;
  const requestId = uuidv5(`${intent.id} ${received}`, FOREIGN);
  const capture = intentOf('capture', { ...aboutOf(authorization), requestId, amount });
  const stored = await ENTRIES.insert(query, capture);
  if (!stored) return false;
  const booked = { from: ['stored'], tell: false } as const;
  const ended = await endEntry(query, stored, capturedBy(intent, false), context.now(), booked);
  if (!ended) return false;
  await tellForeignCapture(query, ended, context.now());
  return true;
}
