import type { ResultInit } from '../../../platform/adapter/entry.ts';
import { reuseRefusal } from '../../../platform/adapter/identifier.ts';
import { OutcomeUnknown } from '../../../platform/adapter/serve.ts';
import type { Desk } from '../desk.ts';
import {
  type Beginning,
  type Ending,
  type Entry,
  endEntry,
  findEntry,
  type Intent,
  insertEntry,
} from '../ledger/entry.ts';

/** The entry of an identifier that asks the same, `fresh` when it is new; or why the identifier cannot be used. */
export type Recalled =
  | { readonly entry: Entry; readonly fresh: boolean; readonly refused?: undefined }
  | { readonly entry?: undefined; readonly refused: ResultInit };

/** Finds what an identifier was used for; undefined when it is new. */
export async function recall(desk: Desk, intent: Intent): Promise<Recalled | undefined> {
  const entry = await findEntry(desk.database.query, intent.requestId);
  if (!entry) return undefined;
  const refused = reuseRefusal(entry, intent);
  return refused ? { refused } : { entry, fresh: false };
}

/** Stores an intent, or finds the entry of its identifier. */
export async function recallOrStore(desk: Desk, intent: Intent, begins?: Beginning): Promise<Recalled> {
  const stored = await insertEntry(desk.database.query, intent, begins);
  if (stored) return { entry: stored, fresh: true };
  const known = await recall(desk, intent);
  if (!known) throw new OutcomeUnknown('the entry is not to be read');
  return known;
}

/** Stores an intent that is not sent anywhere, with its ending. An identifier that is known keeps what it has. */
export async function conclude(desk: Desk, intent: Intent, ending: Ending): Promise<Recalled> {
  const entry = await desk.database.transaction(async (query) => {
    const stored = await insertEntry(query, intent);
    return stored && endEntry(query, stored.requestId, ['stored'], ending, desk.now());
  });
  return entry ? { entry, fresh: true } : recallOrStore(desk, intent);
}
