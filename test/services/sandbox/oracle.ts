import { DatabaseSync } from 'node:sqlite';
import { type Entry, entryTable } from '../../../services/sandbox/ledger/entry.ts';
import type { Event } from '../../../services/sandbox/ledger/event.ts';

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
  const { find, list } = entryTable(database);
  const everything = { after: 0, limit: Number.MAX_SAFE_INTEGER, merchantId: '', account: '' };
  return {
    find,
    entries: (authorizationRequestId = '') => list({ ...everything, authorizationRequestId }),
    events: () => database.prepare('SELECT * FROM event ORDER BY rowid').all() as unknown as Event[],
    close: () => database.close(),
  };
}
