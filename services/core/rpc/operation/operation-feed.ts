import type { Log } from '../../../../platform/log.ts';
import { COMMIT_CHANNEL } from '../../storage/announce.ts';
import type { Database } from '../../storage/database.ts';
import { listen } from '../../storage/listen-to-commits.ts';
import {
  findPlace,
  type LogPosition,
  lastPosition,
  type OperationRow,
  readOperations,
  readOperationsOf,
} from '../../storage/operation/operation-row.ts';
import { openReadTurns } from '../server/read-turns.ts';

/** Results that follow each other in the log, and where the log was read to. */
export interface LogPage {
  readonly results: readonly OperationRow[];
  readonly position: LogPosition;
}

/** A restore or a fail-over took the log back to before a position: reading on would skip results silently. */
export class HistoryChanged extends Error {}

export type OperationFeed = ReturnType<typeof openOperationFeed>;

const KEPT = 10_000;
const PAGE = 1_000;
/** A watcher that is behind holds its page in memory while it stalls, so the page is small. */
const BEHIND_PAGE = 100;
/** A watcher waits longer for its turn than a call: when refused, it would only return. */
const BEHIND_WAIT_MS = 30_000;
/** Announcements wake the feed; the poll covers times without the listening connection. */
const POLL_MS = 500;
/** Between two announcements that wake watchers: waking a hundred of them costs several milliseconds. */
const PAUSE_MS = 20;

/**
 * Opens the results of all cores, as they are committed: read once and held in memory for all watchers. A watcher keeps
 * only a cursor, so a slow one costs nothing. A watcher behind the memory reads pages of its merchant's results from
 * `reads`, one watcher of a merchant after the other. The feed reads only while there are watchers.
 */
export function openOperationFeed(database: Database, reads: Database, databaseUrl: string, log: Log) {
  let kept: OperationRow[] = [];
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
  const listener = listen({ databaseUrl, channels: [COMMIT_CHANNEL], log, heard, connected: heard });
  const poll = setInterval(() => {
    stale = true;
    if (waiters.size > 0) wake();
  }, POLL_MS);
  poll.unref();

  function wake(): void {
    for (const waiter of waiters) waiter();
  }

  /** Reads new results; concurrent callers share one read. */
  async function refresh(): Promise<void> {
    while (stale) {
      stale = false;
      const newest = kept.at(-1);
      const from = newest?.sequence ?? (await nearEnd());
      const read = newest ? readAfter(database, newest, PAGE) : readOperations(database.query, from, PAGE);
      const fresh = await read.catch(forget);
      if (!fresh) continue;
      if (fresh.length === PAGE) {
        stale = true;
        // Without watchers nothing is read, so there may be days of results: the caller must not wait for all of them.
        if ((await nearEnd()) - from > KEPT) {
          kept = [];
          continue;
        }
      }
      kept = [...kept, ...fresh].slice(-KEPT);
      // Wakes callers that began to wait during this read.
      if (fresh.length > 0) wake();
    }
  }

  /** Results after a position, all or a merchant's, read together with the result that stands there. */
  async function readAfter({ query }: Database, position: LogPosition, limit: number, merchantId?: string) {
    const { sequence } = position;
    const rows =
      merchantId === undefined
        ? await readOperations(query, sequence - 1n, limit + 1)
        : await readOperationsOf(query, merchantId, sequence, limit);
    if (sequence === 0n) return rows;
    const [there, ...results] = rows;
    if (!isAt(there, position)) throw new HistoryChanged('the log has another history');
    return results;
  }

  /** A page from the database. Without more results of the merchant it ends where the log ended before. */
  async function behind(position: LogPosition, merchantId: string | undefined): Promise<LogPage> {
    const end = await lastPosition(reads.query);
    const results = await readAfter(reads, position, BEHIND_PAGE, merchantId);
    const last = results.at(-1) ?? position;
    return { results, position: results.length < BEHIND_PAGE && end.sequence > last.sequence ? end : last };
  }

  /** The results in memory belong to a history that is gone. */
  function forget(error: unknown): undefined {
    if (!(error instanceof HistoryChanged)) throw error;
    log.warn('history_changed', {});
    kept = [];
    stale = true;
    wake();
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
    /**
     * At most a page after a position, oldest first; with a merchantId, other merchants' results may be missing. Throws
     * HistoryChanged when there is another result at the position.
     */
    async after(position: LogPosition, merchantId?: string): Promise<LogPage> {
      if (stale) await refreshed();
      // Most watchers are near the end.
      const next = kept.findLastIndex(({ sequence }) => sequence <= position.sequence) + 1;
      const isKept = next > 0 && position.sequence <= (kept.at(-1)?.sequence ?? 0n);
      if (!isKept) return turns.run(merchantId ?? '', () => behind(position, merchantId));
      if (!isAt(kept[next - 1], position)) throw new HistoryChanged('the log has another history');
      const results = kept.slice(next, next + PAGE);
      return { results, position: results.at(-1) ?? position };
    },
    last: () => lastPosition(database.query),
    placeAt: (sequence: bigint) => findPlace(database.query, sequence),
    /** Resolves when there may be new results, the signal is aborted, or the timeout has passed. */
    changed(signal: AbortSignal, timeoutMs: number): Promise<void> {
      if (closed || signal.aborted || (stale && reading === undefined)) return Promise.resolve();
      return waitAmong(waiters, signal, timeoutMs);
    },
    /** The number of callers that wait in changed(). */
    get waiting(): number {
      return waiters.size;
    },
    async close(): Promise<void> {
      closed = true;
      clearInterval(poll);
      clearTimeout(waking);
      wake();
      await listener.close();
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

function isAt(result: OperationRow | undefined, { sequence, requestId }: LogPosition): boolean {
  return result?.sequence === sequence && result.requestId === requestId;
}
