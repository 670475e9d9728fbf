import { book, tellEnd } from '../../../platform/adapter/postgres/books.ts';
import type { Query } from '../../../platform/adapter/postgres/database.ts';
import { OutcomeUnknown } from '../../../platform/adapter/serve.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Context } from '../adapter-context.ts';
import { type Ending, type Entry, endEntry, type Found, findEntry, resultOf } from '../ledger/entry.ts';

/** How an ending is stored. */
interface Finish extends Found {
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
export async function finish(context: Context, entry: Entry, ending: Ending, options: Finish = {}): Promise<Entry> {
  const { from = ['stored', 'sent'] } = options;
  // Stored already, with its times: a repeated request has the same result.
  if (entry.answer === Answer.ACCEPTED && ending.answer === Answer.ACCEPTED) return entry;
  // The end of an accepted operation is reported in any case.
  const tell = options.tell || entry.answer === Answer.ACCEPTED;
  const ended = await context.database.transaction(async (query) => {
    const stored = await endEntry(query, entry, from, ending, context.now(), options);
    if (!stored) return undefined;
    await book(query, stored);
    if (tell) await tellCore(query, stored);
    return stored;
  });
  if (ended && tell) context.onEvent();
  if (ended) return ended;
  const standing = await findEntry(context.database.query, entry.requestId);
  if (standing?.stage !== 'ended') throw new OutcomeUnknown('this identifier is being fenced');
  return standing;
}

/** Stores the event that says how an entry ended. */
export function tellCore(query: Query, entry: Entry): Promise<void> {
  return tellEnd(query, entry, resultOf(entry));
}
