import type { Kind, ResultInit } from '../../../platform/adapter/entry.ts';
import type * as identifier from '../../../platform/adapter/identifier.ts';
import { book, tellEnd } from '../../../platform/adapter/postgres/books.ts';
import type { Query } from '../../../platform/adapter/postgres/database.ts';
import { OutcomeUnknown } from '../../../platform/adapter/serve.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Context } from '../adapter-context.ts';
import {
  ENTRIES,
  type Ending,
  type Entry,
  type Intent,
  markEntry,
  NO_ENDING,
  resultOf,
  type Stages,
} from '../ledger/entry.ts';

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

/** An entry is looked at this long after it ended or was accepted; its ledger row says when again. */
const FIRST_LOOK_MS = 5 * 60 * 1000;

/** A customer on a page may come back soon. */
const FIRST_LOOK_AT_PAGE_MS = 5_000;

/** Kinds whose result may change at Stripe without a call of core's. */
const LOOKED_AT: ReadonlySet<Kind> = new Set(['authorization', 'checkout', 'refund']);

/** How an ending is stored. */
interface Finish {
  /** The stages that it may end. */
  readonly from: Stages;
  /** Reports the result to core as an event, because no call of core's returns it. */
  readonly tell: boolean;
}

/**
 * Ends an entry, or says that it was accepted, with what it changed of its authorization and capture. Undefined when it
 * is in none of the stages: another process ended it before.
 */
export async function endEntry(
  query: Query,
  { requestId, kind }: Pick<Entry, 'requestId' | 'kind'>,
  ending: Ending,
  actedAt: Date,
  { from, tell }: Finish,
): Promise<Entry | undefined> {
  const { answer } = ending;
  const isLookedAt = LOOKED_AT.has(kind) && (answer === Answer.APPROVED || answer === Answer.ACCEPTED);
  const ended = await markEntry(query, requestId, from, {
    ...NO_ENDING,
    ...ending,
    stage: answer === Answer.ACCEPTED ? 'sent' : 'ended',
    actedAt,
    lookAt: isLookedAt
      ? new Date(actedAt.getTime() + (ending.actionUrl ? FIRST_LOOK_AT_PAGE_MS : FIRST_LOOK_MS))
      : null,
  });
  if (!ended) return undefined;
  await book(query, ended);
  if (tell) await tellEnd(query, ended, resultOf(ended));
  return ended;
}
