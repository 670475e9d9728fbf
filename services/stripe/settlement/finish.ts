import type { Query } from '../../../platform/adapter/postgres/database.ts';
import { OutcomeUnknown } from '../../../platform/adapter/serve.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Desk } from '../desk.ts';
import { addToEntry, type Ending, type Entry, endEntry, type Found, findEntry } from '../ledger/entry.ts';
import { insertEvent } from '../ledger/event.ts';
import { resultOf } from './ending.ts';

/** How an ending is stored. */
export interface Finish extends Found {
  /** Reports the result to core as an event, because no call of core's returns it. */
  readonly tell?: boolean;
  /** The stages that it may end. The first ending stays. */
  readonly from?: readonly Entry['stage'][];
}

/**
 * Stores how an operation ended, with what it changed of its authorization and capture, in one transaction. Returns the
 * entry as it is stored: when another process ended it before, with that process's ending. Throws OutcomeUnknown when
 * it is being fenced.
 */
export async function finish(desk: Desk, entry: Entry, ending: Ending, options: Finish = {}): Promise<Entry> {
  const { from = ['stored', 'sent'], ...found } = options;
  // Stored already, with its times: a repeated request has the same result.
  if (entry.answer === Answer.ACCEPTED && ending.answer === Answer.ACCEPTED) return entry;
  // The end of an accepted operation is reported in any case.
  const tell = options.tell || entry.answer === Answer.ACCEPTED;
  const ended = await desk.database.transaction(async (query) => {
    const stored = await endEntry(query, entry.requestId, from, ending, desk.now(), found);
    if (!stored) return undefined;
    await applySums(query, stored);
    if (tell) await tellCore(query, stored);
    return stored;
  });
  if (ended && tell) desk.onEvent();
  if (ended) return ended;
  const standing = await findEntry(desk.database.query, entry.requestId);
  if (standing?.stage !== 'ended') throw new OutcomeUnknown('this identifier is being fenced');
  return standing;
}

/** What an approved operation changes of its authorization, and a refund of its capture. */
export async function applySums(query: Query, entry: Entry): Promise<void> {
  const { answer, amount, released, authorizationRequestId, captureRequestId } = entry;
  if (answer !== Answer.APPROVED || authorizationRequestId === null) return;
  if (entry.kind === 'capture') await addToEntry(query, authorizationRequestId, { captured: amount, voided: released });
  if (entry.kind === 'void') await addToEntry(query, authorizationRequestId, { voided: released });
  if (entry.kind === 'increment') {
    await addToEntry(query, authorizationRequestId, { incremented: amount });
  }
  if (entry.kind !== 'refund') return;
  await addToEntry(query, authorizationRequestId, { refunded: amount });
  if (captureRequestId !== null) await addToEntry(query, captureRequestId, { refunded: amount });
}

/** Stores the event that says how an entry ended. */
export async function tellCore(query: Query, entry: Entry): Promise<void> {
  const { requestId, kind, answer } = entry;
  if (answer === Answer.ACCEPTED) return;
  const value = { requestId, result: resultOf(entry) };
  const eventId = `${kind}-${requestId}-${answer}`.slice(0, 64);
  const event = kind === 'checkout' ? ('checkoutCompleted' as const) : ('operationSettled' as const);
  await insertEvent(query, {
    eventId,
    requestId,
    occurredAt: entry.actedAt ?? new Date(0),
    event: { case: event, value },
  });
}
