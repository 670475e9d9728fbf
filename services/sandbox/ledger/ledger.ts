import assert from 'node:assert/strict';
import type { DatabaseSync } from 'node:sqlite';
import { openSqliteFile } from '../../../platform/sqlite-file.ts';
import { cardTryTable, checkoutTable, tokenTable } from './checkout.ts';
import { entryTable } from './entry.ts';
import { eventTable } from './event.ts';
import { SCHEMA, SCHEMA_VERSION } from './schema.ts';

/** The tables, as a decision within a commit uses them. */
export type Books = ReturnType<typeof openLedger>['books'];

/** The sandbox's books, on disk. */
export type Ledger = ReturnType<typeof openLedger>;

interface Waiting {
  /** Runs the decision within the transaction; returns how to resolve its caller after the commit. */
  readonly decide: () => () => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Opens or creates a ledger file, readable by its owner only. `now` returns milliseconds since 1970; `onEvent` is
 * called when an event was added.
 */
export function openLedger(file: string, now?: () => number, onEvent = () => {}) {
  const database = openSqliteFile('SANDBOX_LEDGER', file);
  // With WAL a killed process loses nothing, and a commit does not wait for the disk.
  database.exec('PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4000');
  prepareSchema(database, file);
  const books = {
    entries: entryTable(database, now),
    checkouts: checkoutTable(database),
    cardTries: cardTryTable(database),
    tokens: tokenTable(database),
    events: eventTable(database, onEvent),
  };
  let waiting: Waiting[] = [];
  let closed = false;

  function flush(): void {
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    try {
      database.exec('BEGIN IMMEDIATE');
      const answers = batch.map(({ decide }) => decide());
      database.exec('COMMIT');
      for (const answer of answers) answer();
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      for (const { fail } of batch) fail(error);
    }
  }

  return {
    books,
    /** Names this ledger, and no other. */
    identity: String(database.prepare('SELECT identity FROM ledger').get()?.identity),
    /**
     * Runs a decision on the books and resolves after its commit. Decisions of the same turn of the event loop share
     * one transaction and run one after the other; each sees what the ones before it wrote. When one throws (a bug, a
     * full disk), the transaction is rolled back and all of them reject.
     */
    commit<T>(decide: (tables: typeof books) => T): Promise<T> {
      return new Promise((resolve, reject) => {
        if (closed) throw new Error('The ledger is closed.');
        waiting.push({
          decide: () => {
            const decided = decide(books);
            assert(!(decided instanceof Promise), 'a decision must not wait');
            return () => resolve(decided);
          },
          fail: reject,
        });
        if (waiting.length === 1) setImmediate(flush);
      });
    },
    /** Commits what waits and closes the file. */
    close(): void {
      if (closed) return;
      flush();
      closed = true;
      database.close();
    },
  };
}

/** Creates the tables in a new file. Throws when the file has those of another version. */
function prepareSchema(database: DatabaseSync, file: string): void {
  const version = Number(database.prepare('PRAGMA user_version').get()?.user_version);
  if (version === SCHEMA_VERSION) return;
  if (version !== 0) {
    throw new Error(`SANDBOX_LEDGER: ${file} was written by another version of the sandbox; move it away`);
  }
  database.exec(`BEGIN; ${SCHEMA} PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`);
}
