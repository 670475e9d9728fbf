import pg from 'pg';
import type { Log } from '../../../proto/log.ts';
import { errorFields } from '../../../proto/log.ts';
import type { Database } from '../storage/database.ts';
import type { OperationRow } from '../storage/operation.ts';
import {
  type LogPosition,
  lastPosition,
  OPERATION_CHANNEL,
  readOperations,
  requestIdAt,
} from '../storage/operation-log.ts';

/**
 * The results as they are committed, by whichever core: read once per commit, held in memory for all watchers. A watcher keeps
 * only a cursor, so a slow one costs nothing; one that has fallen behind what memory holds reads pages from the database.
 */
export interface OperationFeed {
  /** Results after a cursor, at most a page, oldest first. Empty = nothing yet. */
  after(cursor: bigint): Promise<readonly OperationRow[]>;
  /** Where the log ends now. */
  last(): Promise<LogPosition>;
  /** The requestId of the result at a sequence; undefined = there is none. */
  requestIdAt(sequence: bigint): Promise<string | undefined>;
  /** Answers when there may be something new, or the signal is aborted, or the time is over. */
  changed(signal: AbortSignal, timeoutMs: number): Promise<void>;
  /** How many wait for news. */
  readonly waiting: number;
  close(): Promise<void>;
}

const KEPT = 10_000;
const PAGE = 1_000;
/** A watcher that has fallen behind keeps its page while it stalls, so the page is small. */
const BEHIND_PAGE = 100;
/** Announcements wake the feed; the poll is for the moments in which the announcing connection is away. */
const POLL_MS = 500;

/**
 * Opens the feed. It reads only while somebody watches. Results that come with an alarm are announced by it, on `alarmChannel`, all
 * others on the channel of operations: one announcement less for each commit.
 */
export function openOperationFeed(
  database: Database,
  databaseUrl: string,
  alarmChannel: string,
  log: Log,
): OperationFeed {
  let kept: OperationRow[] = [];
  let reading: Promise<void> | undefined;
  let stale = true;
  let waiters = new Set<() => void>();
  let closed = false;
  const heard = () => {
    stale = true;
    wake();
  };
  // A database that was away may have come back with another history.
  const connected = () => {
    kept = [];
    heard();
  };
  const listener = listen(databaseUrl, [OPERATION_CHANNEL, alarmChannel], log, { heard, connected });
  const poll = setInterval(() => {
    stale = true;
    if (waiters.size > 0) wake();
  }, POLL_MS);
  poll.unref();

  function wake(): void {
    const woken = waiters;
    waiters = new Set();
    for (const waiter of woken) waiter();
  }

  /** Reads what was committed since, once for all who ask at the same time. */
  async function refresh(): Promise<void> {
    while (stale) {
      stale = false;
      const newest = kept.at(-1)?.sequence ?? (await nearEnd());
      const fresh = await readOperations(database.query, newest, PAGE);
      if (fresh.length === PAGE) {
        stale = true;
        // While nobody watched, days of results may have come: whoever asks now does not wait until all are read.
        if ((await nearEnd()) - newest > KEPT) {
          kept = [];
          continue;
        }
      }
      kept = [...kept, ...fresh].slice(-KEPT);
      // Who began to wait while this was read would otherwise hear of it with the next poll.
      if (fresh.length > 0) wake();
    }
  }

  /** A page before the newest result. */
  async function nearEnd(): Promise<bigint> {
    return (await lastPosition(database.query)).sequence - BigInt(PAGE);
  }

  function refreshed(): Promise<void> {
    reading ??= refresh().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  return {
    async after(cursor) {
      if (stale) await refreshed();
      const oldest = kept[0]?.sequence;
      if (oldest === undefined || cursor + 1n < oldest) return readOperations(database.query, cursor, BEHIND_PAGE);
      return kept.slice(firstAfter(kept, cursor), firstAfter(kept, cursor) + PAGE);
    },
    last: () => lastPosition(database.query),
    requestIdAt: (sequence) => requestIdAt(database.query, sequence),
    changed(signal, timeoutMs) {
      if (closed || signal.aborted || (stale && reading === undefined)) return Promise.resolve();
      return new Promise((resolve) => {
        const done = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', done);
          waiters.delete(done);
          resolve();
        };
        const timer = setTimeout(done, timeoutMs);
        signal.addEventListener('abort', done, { once: true });
        waiters.add(done);
      });
    },
    get waiting() {
      return waiters.size;
    },
    async close() {
      closed = true;
      clearInterval(poll);
      wake();
      await listener.close();
    },
  };
}

/** Index of the first result after a cursor, in an array ordered by sequence. */
function firstAfter(rows: readonly OperationRow[], cursor: bigint): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rows[middle]?.sequence ?? 0n) <= cursor) low = middle + 1;
    else high = middle;
  }
  return low;
}

const RECONNECT_MS = 500;

/** A connection of its own that hears announcements, and comes back when it is cut. */
function listen(
  databaseUrl: string,
  channels: readonly string[],
  log: Log,
  { heard, connected }: { readonly heard: () => void; readonly connected: () => void },
): { close(): Promise<void> } {
  let closed = false;
  let client: pg.Client | undefined;
  let retry: NodeJS.Timeout | undefined;
  const connect = async (): Promise<void> => {
    const fresh = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000, keepAlive: true });
    client = fresh;
    fresh.on('notification', heard);
    fresh.on('error', (error) => lost(error));
    fresh.on('end', () => lost(undefined));
    await fresh.connect();
    for (const channel of channels) await fresh.query(`listen ${channel}`);
    connected();
  };
  let connecting = connect().catch(lost);
  function lost(error: unknown): void {
    if (closed || retry) return;
    if (error) log.warn('feed_connection_lost', { ...errorFields(error) });
    retry = setTimeout(() => {
      retry = undefined;
      connecting = connect().catch(lost);
    }, RECONNECT_MS);
  }
  return {
    async close() {
      closed = true;
      clearTimeout(retry);
      await connecting;
      await client?.end();
    },
  };
}
