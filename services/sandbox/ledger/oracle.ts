import { DatabaseSync } from 'node:sqlite';
import { type Entry, entryTable } from './entry.ts';
import { type Event, eventTable } from './event.ts';

/** The ledger as a test reads it, beside a running sandbox or after its death. */
export interface Oracle {
  find(requestId: string): Entry | undefined;
  /** Every entry, oldest first; of one authorization (itself, its captures and voids) when it is named. */
  entries(authorizationRequestId?: string): Entry[];
  events(): Event[];
  close(): void;
}

/** Opens a ledger file to read it. Throws when there is none. */
export function openOracle(file: string): Oracle {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  const entries = entryTable(database);
  const events = eventTable(database);
  return {
    find: entries.find,
    entries: (authorizationRequestId = '') =>
      entries.list({ after: 0, limit: Number.MAX_SAFE_INTEGER, authorizationRequestId }),
    events: events.list,
    close: () => database.close(),
  };
}
