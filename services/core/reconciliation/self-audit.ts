import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { connectionOptions, DatabaseClient } from '../../../platform/database-client.ts';
import { BOOKS_QUERIES, COUNTS } from './books-queries.ts';
import { copyEntries, type Ledgers, type Reading, readAgain } from './copy-entries.ts';
import type { Audited, Drift, Unread } from './drift.ts';
import { LEDGER_QUERIES, LEFT_OUT } from './ledger-queries.ts';

export interface AuditParts extends Pick<Reading, 'mostUnknown'> {
  readonly databaseUrl: string;
  /** Absent: audits our own books alone. */
  readonly processors?: Ledgers | undefined;
  /** Maximum drifts reported for each check; all are counted. */
  readonly most: number;
  /** How long to wait before reading again what differs from the processor's books, milliseconds. */
  readonly patienceMs: number;
}

/**
 * Recomputes the books: each hold's counters from its captures and releases, each final submission against the log of
 * operations, and everything against the processor's own books. It only reads, and operations in flight are no drift.
 * Reports each drift as it is found, and returns the counts. The books of a processor that does not answer are left
 * out, and its name is returned.
 */
export async function audit(parts: AuditParts, tell: (drift: Drift) => void): Promise<Audited> {
  const client = new DatabaseClient(connectionOptions(parts.databaseUrl));
  await client.connect();
  try {
    const ledgers = parts.processors ? await copyEntries(client, parts.processors, 'LEAVE_OUT', parts) : [];
    await client.query('begin isolation level repeatable read');
    const counts = (await client.query<Omit<Audited, 'entries' | 'ledgers' | 'drifts' | 'unread'>>(COUNTS)).rows[0];
    if (!counts) throw new Error('the counts are not there');
    let drifts = 0;
    for (const query of BOOKS_QUERIES) drifts += await look(client, query, parts.most, tell);
    await client.query('commit');
    if (parts.processors) {
      const differing = await reconcile(client, parts.processors, parts.patienceMs);
      for (const drift of differing.drifts.slice(0, parts.most)) tell(drift);
      drifts += differing.total;
    }
    const entries = ledgers.reduce((total, ledger) => total + ledger.entries, 0);
    const unread = parts.processors ? (await client.query<Unread>(LEFT_OUT)).rows : [];
    return { ...counts, entries, ledgers, drifts, unread };
  } finally {
    await client.end();
  }
}

/** What differs: the first of each check, and how many there are. */
interface Differing {
  readonly drifts: readonly Drift[];
  readonly total: number;
}

/** Both books change while they are read: drift is what differs, and still does a little later. */
async function reconcile(client: pg.Client, processors: Ledgers, patienceMs: number): Promise<Differing> {
  const first = await compare(client);
  if (first.total === 0 || first.total > first.drifts.length) return first;
  await delay(patienceMs);
  const suspects = first.drifts.map(({ requestId }) => requestId);
  await readAgain(client, processors, suspects, 'LEAVE_OUT');
  const before = new Set(first.drifts.map((drift) => JSON.stringify(drift)));
  const drifts = (await compare(client)).drifts.filter((drift) => before.has(JSON.stringify(drift)));
  return { drifts, total: drifts.length };
}

/** Maximum number read again, one by one. With more than this, a few false reports do not matter. */
const SUSPECTS = 1_000;

async function compare(client: pg.Client): Promise<Differing> {
  const drifts: Drift[] = [];
  let total = 0;
  for (const query of LEDGER_QUERIES) total += await look(client, query, SUSPECTS, (drift) => drifts.push(drift));
  return { drifts, total };
}

async function look(client: pg.Client, query: string, most: number, tell: (drift: Drift) => void): Promise<number> {
  const { rows } = await client.query<Drift & { readonly total: number }>(
    `select kind, request_id as "requestId", merchant_id as "merchantId", expected, found,
    count(*) over ()::int as total
    from (${query}) drift limit $1`,
    [most],
  );
  for (const { total: _, ...drift } of rows) tell(drift);
  return rows[0]?.total ?? 0;
}
