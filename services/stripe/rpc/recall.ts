import type { ResultInit } from '../../../platform/adapter/entry.ts';
import * as base from '../../../platform/adapter/identifier.ts';
import { OutcomeUnknown } from '../../../platform/adapter/serve.ts';
import type { Context } from '../adapter-context.ts';
import {
  type Beginning,
  type Ending,
  type Entry,
  endEntry,
  findEntry,
  type Intent,
  insertEntry,
  resultOf,
} from '../ledger/entry.ts';

export type Recalled = base.Recalled<Entry>;

/** The contract's form of it. */
export const answerOf = ({ refused, entry }: Recalled): ResultInit => refused ?? resultOf(entry);

/** Finds what an identifier was used for; undefined when it is new. */
export async function recall(context: Context, intent: Intent): Promise<Recalled | undefined> {
  return base.recalled(await findEntry(context.database.query, intent.requestId), intent);
}

/** Stores an intent, or finds the entry of its identifier. */
export async function recallOrStore(context: Context, intent: Intent, begins?: Beginning): Promise<Recalled> {
  const stored = await insertEntry(context.database.query, intent, begins);
  if (stored) return { entry: stored, fresh: true };
  const known = await recall(context, intent);
  if (!known) throw new OutcomeUnknown('the entry is not to be read');
  return known;
}

/** Stores an intent that is not sent anywhere, with its ending. An identifier that is known keeps what it has. */
export async function conclude(context: Context, intent: Intent, ending: Ending): Promise<Recalled> {
  const entry = await context.database.transaction(async (query) => {
    const stored = await insertEntry(query, intent);
    return stored && endEntry(query, stored, ['stored'], ending, context.now());
  });
  return entry ? { entry, fresh: true } : recallOrStore(context, intent);
}
