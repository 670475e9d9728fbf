import { setTimeout as delay } from 'node:timers/promises';
import { type Query, readRow, sql } from '../database.ts';

/** The last number that was drawn, and the transactions that may still commit one up to it. */
interface Horizon {
  readonly last: bigint;
  readonly writers: readonly string[];
}

/** Between two looks at the writers: a commit lasts a few milliseconds. */
const PAUSE_MS = 5;
/** How often a reader looks before it reads what was settled earlier. */
const MOST_LOOKS = 10;
/** How long the first reader waits. Our statements end within 8 s. */
const FIRST_WAIT_MS = 15_000;

/**
 * Opens the number up to which the sequence of accepted notifications is settled: no later commit has a smaller one.
 *
 * A number is drawn before the commit, so those of concurrent transactions are committed in any order. A lock that made
 * their order that of commits would be held over each flush to disk, as it is for results; here many more are stored.
 * Instead the reader waits: who draws a number holds a lock on the table from before until after its commit. So once the
 * transactions that have that lock are over, all numbers that were drawn before are settled. A transaction that does not
 * end holds up the streams, and nobody else.
 */
export function openSettledSequence(): (query: Query) => Promise<bigint> {
  let settled: bigint | undefined;
  let noted: Horizon | undefined;
  let looking: Promise<unknown> = Promise.resolve();

  /** Looks once, and returns what it has seen. */
  async function lookAt(query: Query): Promise<Horizon> {
    const now = await readRow<Horizon>(query, READ_HORIZON, []);
    if (!now) throw new Error('a sequence has a value');
    // The database went back in time.
    if (settled !== undefined && now.last < settled) [settled, noted] = [undefined, undefined];
    if (noted && !noted.writers.some((writer) => now.writers.includes(writer)))
      [settled, noted] = [noted.last, undefined];
    if (now.writers.length === 0) settled = now.last;
    else noted ??= now;
    return now;
  }

  /** One look after the other: an earlier one does not know the writers that a later one has noted. */
  function look(query: Query): Promise<Horizon> {
    const next = looking.then(() => lookAt(query));
    looking = next.catch(() => undefined);
    return next;
  }

  return async (query) => {
    const startedMs = performance.now();
    const { last: wanted } = await look(query);
    for (let looks = 1; settled === undefined || (settled < wanted && looks < MOST_LOOKS); looks++) {
      if (performance.now() > startedMs + FIRST_WAIT_MS) throw new Error('a transaction on notification does not end');
      await delay(PAUSE_MS);
      await look(query);
    }
    return settled;
  };
}

/**
 * The locks are looked up after the number is read, because their condition names it; in the other order a transaction
 * could draw a number in between.
 */
const READ_HORIZON = sql('read-notification-horizon')`select s.last_value as last, array(
      select l.virtualtransaction from pg_locks l
      where l.relation = 'notification'::regclass and l.mode = 'RowExclusiveLock' and l.granted
        and l.database = (select oid from pg_database where datname = current_database())
        and s.last_value > 0) as writers
    from notification_sequence_seq s`;
