import type { Log } from '../../../../platform/log.ts';
import { COMMIT_CHANNEL } from '../../storage/announce.ts';
import type { Database } from '../../storage/database.ts';
import { listen } from '../../storage/listen-to-commits.ts';
import type { LogPosition, LogRow, OrderedLog } from '../../storage/ordered-log.ts';
import { openReadTurns } from '../server/read-turns.ts';

/** Rows that follow each other in the log, and where the log was read to. */
export interface LogPage<Row extends LogRow> {
  readonly rows: readonly Row[];
  readonly position: LogPosition;
}

/** A restore or a fail-over took the log back to before a position: reading on would skip rows silently. */
export class HistoryChanged extends Error {}

export type LogFeed<Row extends LogRow> = ReturnType<typeof openLogFeed<Row>>;

/** What a feed holds in memory. */
export interface FeedSizes {
  /** Rows for all watchers, and the bytes that they may have; absent = rows are small. */
  readonly kept: number;
  readonly keptBytes?: number;
  /** Rows that are read together, and that a watcher gets together. */
  readonly read: number;
  readonly page: number;
  /** A watcher that is behind holds its page in memory while it stalls, so the page is small. */
  readonly behind: number;
}

export const OPERATION_SIZES: FeedSizes = { kept: 10_000, read: 1_000, page: 1_000, behind: 100 };

/** A watcher waits longer for its turn than a call: when refused, it would only return. */
const BEHIND_WAIT_MS = 30_000;
/** Announcements wake the feed; the poll covers times without the listening connection. */
const POLL_MS = 500;
/** Between two announcements that wake watchers: waking a hundred of them costs several milliseconds. */
const PAUSE_MS = 20;

/** Wakes feeds at each commit, by one connection that listens for all of them. */
export function wakeAtCommits(feeds: readonly { heard(): void }[], databaseUrl: string, log: Log) {
  const heard = () => {
    for (const feed of feeds) feed.heard();
  };
  return listen({ databaseUrl, channels: [COMMIT_CHANNEL], log, heard, connected: heard });
}

/**
 * Opens the rows of a log, as all cores commit them: read once and held in memory for all watchers. A watcher keeps
 * only a cursor, so a slow one costs nothing. A watcher behind the memory reads pages of its merchant's rows from
 * `reads`, one watcher of a merchant after the other. The feed reads only while there are watchers.
 */
export function openLogFeed<Row extends LogRow>(
  source: OrderedLog<Row>,
  sizes: FeedSizes,
  { database, reads, log }: { database: Database; reads: Database; log: Log },
) {
  let kept: Row[] = [];
  let reading: Promise<void> | undefined;
  let stale = true;
  const waiters = new Set<() => void>();
  let closed = false;
  let wokenAtMs = 0;
  let waking: NodeJS.Timeout | undefined;
  const turns = openReadTurns({ waitMs: BEHIND_WAIT_MS });
  const heard = () => {
    waking ??= setTimeout(
      () => {
        waking = undefined;
        wokenAtMs = performance.now();
        stale = true;
        wake();
      },
      Math.max(wokenAtMs + PAUSE_MS - performance.now(), 0),
    );
  };
  const poll = setInterval(() => {
    stale = true;
    if (waiters.size > 0) wake();
  }, POLL_MS);
  poll.unref();

  function wake(): void {
    for (const waiter of waiters) waiter();
  }

  /** Reads new rows; concurrent callers share one read. */
  async function refresh(): Promise<void> {
    while (stale) {
      stale = false;
      const newest = kept.at(-1);
      const from = newest?.sequence ?? (await nearEnd());
      const read = newest
        ? readAfter(database, source.positionOf(newest), sizes.read)
        : source.read(database.query, from, sizes.read);
      const fresh = await read.catch(forget);
      if (!fresh) continue;
      if (fresh.length === sizes.read) {
        stale = true;
        // Without watchers nothing is read, so there may be days of rows: the caller must not wait for all of them.
        if ((await nearEnd()) - from > sizes.kept) {
          kept = [];
          continue;
        }
      }
      kept = newestOf([...kept, ...fresh]);
      // Wakes callers that began to wait during this read.
      if (fresh.length > 0) wake();
    }
  }

  /** The newest rows that may be held. */
  function newestOf(rows: Row[]): Row[] {
    const newest = rows.slice(-sizes.kept);
    if (sizes.keptBytes === undefined) return newest;
    let left = sizes.keptBytes;
    const tooMany = newest.findLastIndex((row) => {
      left -= source.bytesOf(row);
      return left < 0;
    });
    return newest.slice(tooMany + 1);
  }

  /** Rows after a position, all or a merchant's, read together with the row that stands there. */
  async function readAfter({ query }: Database, position: LogPosition, limit: number, merchantId?: string) {
    const { sequence } = position;
    const found =
      merchantId === undefined
        ? await source.read(query, sequence - 1n, limit + 1)
        : await source.readOf(query, merchantId, sequence, limit);
    if (sequence === 0n) return found;
    const [there, ...rows] = found;
    if (!isAt(there, position)) throw new HistoryChanged('the log has another history');
    return rows;
  }

  function isAt(row: Row | undefined, { sequence, mark }: LogPosition): boolean {
    return row?.sequence === sequence && source.positionOf(row).mark === mark;
  }

  function endOf(rows: readonly Row[]): LogPosition | undefined {
    const last = rows.at(-1);
    return last && source.positionOf(last);
  }

  /** A page from the database. Without more rows of the merchant it ends where the log ended before. */
  async function behind(position: LogPosition, merchantId: string | undefined): Promise<LogPage<Row>> {
    const end = await source.last(reads.query);
    const rows = await readAfter(reads, position, sizes.behind, merchantId);
    const last = endOf(rows) ?? position;
    return { rows, position: rows.length < sizes.behind && end.sequence > last.sequence ? end : last };
  }

  /** The rows in memory belong to a history that is gone. */
  function forget(error: unknown): undefined {
    if (!(error instanceof HistoryChanged)) throw error;
    log.warn('history_changed', {});
    kept = [];
    stale = true;
    wake();
  }

  /** A page before the newest row. */
  async function nearEnd(): Promise<bigint> {
    return (await source.last(database.query)).sequence - BigInt(sizes.read);
  }

  function refreshed(): Promise<void> {
    reading ??= refresh().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  return {
    /** Call it for each announcement of a commit. */
    heard,
    /**
     * At most a page after a position, oldest first; with a merchantId, other merchants' rows may be missing. Throws
     * HistoryChanged when there is another row at the position.
     */
    async after(position: LogPosition, merchantId?: string): Promise<LogPage<Row>> {
      if (stale) await refreshed();
      // Most watchers are near the end.
      const next = kept.findLastIndex(({ sequence }) => sequence <= position.sequence) + 1;
      const isKept = next > 0 && position.sequence <= (kept.at(-1)?.sequence ?? 0n);
      if (!isKept) return turns.run(merchantId ?? '', () => behind(position, merchantId));
      if (!isAt(kept[next - 1], position)) throw new HistoryChanged('the log has another history');
      const rows = kept.slice(next, next + sizes.page);
      return { rows, position: endOf(rows) ?? position };
    },
    last: () => source.last(database.query),
    placeAt: (sequence: bigint) => source.placeAt(database.query, sequence),
    positionOf: source.positionOf,
    storedAt: source.storedAt,
    /** Resolves when there may be new rows, the signal is aborted, or the timeout has passed. */
    changed(signal: AbortSignal, timeoutMs: number): Promise<void> {
      if (closed || signal.aborted || (stale && reading === undefined)) return Promise.resolve();
      return waitAmong(waiters, signal, timeoutMs);
    },
    /** The number of callers that wait in changed(). */
    get waiting(): number {
      return waiters.size;
    },
    close(): void {
      closed = true;
      clearInterval(poll);
      clearTimeout(waking);
      wake();
    },
  };
}

/** Resolves when its waiter is called, which leaves the waiters, the signal is aborted, or the timeout has passed. */
function waitAmong(waiters: Set<() => void>, signal: AbortSignal, timeoutMs: number): Promise<void> {
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
}
