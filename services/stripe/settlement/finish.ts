import type { ResultInit } from '../../../platform/adapter/entry.ts';
import type * as identifier from '../../../platform/adapter/identifier.ts';
import { OutcomeUnknown } from '../../../platform/adapter/serve.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Context } from '../adapter-context.ts';
import { ENTRIES, type Ending, type Entry, endEntry, type Finish, type Intent, resultOf } from '../ledger/entry.ts';

/**
 * Stores how an operation ended, in one transaction. Returns the entry as it is stored: when another process ended it
 * before, with that process's ending. Throws OutcomeUnknown when it is being fenced.
 */
export async function finish(
  context: Context,
  entry: Entry,
  ending: Ending,
  { from = ['stored', 'sent'], tell = false }: Partial<Finish> = {},
): Promise<Entry> {
  // Stored already, with its times: a repeated request has the same result.
  if (entry.answer === Answer.ACCEPTED && ending.answer === Answer.ACCEPTED) return entry;
  // The end of an accepted operation is reported in any case.
  const isTold = tell || entry.answer === Answer.ACCEPTED;
  const ended = await context.database.transaction((query) =>
    endEntry(query, entry, ending, context.now(), { from, tell: isTold }),
  );
  if (ended && isTold) context.onEvent();
  if (ended) return ended;
  const standing = await ENTRIES.find(context.database.query, entry.requestId);
  if (standing?.stage !== 'ended') throw new OutcomeUnknown('this identifier is being fenced');
  return standing;
}

export type Recalled = identifier.Recalled<Entry>;

/** The contract's form of what an identifier was used for. */
export const answerOf = ({ refused, entry }: Recalled): ResultInit => refused ?? resultOf(entry);

/** Stores an intent that is not sent anywhere, with its ending. An identifier that is known keeps what it has. */
export async function conclude(context: Context, intent: Intent, ending: Ending): Promise<Recalled> {
  const entry = await context.database.transaction(async (query) => {
    const stored = await ENTRIES.insert(query, intent);
    return stored && endEntry(query, stored, ending, context.now(), { from: ['stored'], tell: false });
  });
  return entry ? { entry, fresh: true } : ENTRIES.store(context.database.query, intent);
}
