import pg from 'pg';
import { BOOKS_QUERIES, COUNTS } from './books-queries.ts';
import { copyEntries, type Ledger, readAgain } from './copy-entries.ts';
import type { Audited, Drift } from './drift.ts';
import { CREATE_COPY, LEDGER_QUERIES } from './ledger-queries.ts';

/** What an audit works with. */
export interface AuditParts {
  readonly databaseUrl: string;
  /** Absent = our books alone. */
  readonly processor?: Ledger | undefined;
  /** Drifts that are told of each check; all are counted. */
  readonly most: number;
  /** How long what differs from the processor may take to become equal, before it is looked at again. Milliseconds. */
  readonly patienceMs: number;
}

/**
 * Recomputes the books: each hold's counters from its captures and releases, each final attempt against the log of operations,
 * and everything against the processor's own books. Reads only; what is in flight is not drift. Tells every drift as it is found,
 * and answers what was looked at.
 */
export async function audit(parts: AuditParts, tell: (drift: Drift) => void): Promise<Audited> {
  const client = new pg.Client({ connectionString: parts.databaseUrl, connectionTimeoutMillis: 5_000 });
  // A connection that dies makes the query that runs on it fail; nobody else needs to hear of it.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const entries = parts.processor ? await copyProcessorBooks(client, parts.processor) : 0;
    await client.query('begin isolation level repeatable read');
    const counts = (await client.query<Omit<Audited, 'entries' | 'drifts'>>(COUNTS)).rows[0];
    if (!counts) throw new Error('the counts are not there');
    let drifts = 0;
    for (const query of BOOKS_QUERIES) drifts += await look(client, query, parts.most, tell);
    await client.query('commit');
    if (parts.processor) drifts += await reconcile(client, parts, parts.processor, tell);
    return { ...counts, entries, drifts };
  } finally {
    await client.end();
  }
}

/** The processor's books, in a table of this session. */
async function copyProcessorBooks(client: pg.Client, processor: Ledger): Promise<number> {
  await client.query(CREATE_COPY);
  const entries = await copyEntries(client, processor);
  await client.query('analyze processor_entry');
  return entries;
}

/** Both books move while they are read: what differs is read again, a little later, and is drift when nothing has moved. */
async function reconcile(
  client: pg.Client,
  parts: AuditParts,
  processor: Ledger,
  tell: (drift: Drift) => void,
): Promise<number> {
  const first = await compare(client);
  if (first.total > first.drifts.length) return tellSome(parts, first.drifts, first.total, tell);
  if (first.total === 0) return 0;
  await new Promise((resolve) => setTimeout(resolve, parts.patienceMs));
  await readAgain(client, processor, first.drifts);
  const before = new Set(first.drifts.map((drift) => JSON.stringify(drift)));
  const stayed = (await compare(client)).drifts.filter((drift) => before.has(JSON.stringify(drift)));
  return tellSome(parts, stayed, stayed.length, tell);
}

/** So many are read again, one by one. When there are more, the books are so wrong that a few too many do not matter. */
const SUSPECTS = 1_000;

async function compare(client: pg.Client): Promise<{ drifts: Drift[]; total: number }> {
  const drifts: Drift[] = [];
  let total = 0;
  for (const query of LEDGER_QUERIES) total += await look(client, query, SUSPECTS, (drift) => drifts.push(drift));
  return { drifts, total };
}

function tellSome(parts: AuditParts, drifts: readonly Drift[], total: number, tell: (drift: Drift) => void): number {
  for (const drift of drifts.slice(0, parts.most)) tell(drift);
  return total;
}

async function look(client: pg.Client, query: string, most: number, tell: (drift: Drift) => void): Promise<number> {
  const { rows } = await client.query<Row>(
    `select kind, request_id, merchant_id, expected, found, count(*) over ()::int as total from (${query}) drift limit $1`,
    [most],
  );
  for (const { kind, request_id, merchant_id, expected, found } of rows) {
    tell({ kind, requestId: request_id, merchantId: merchant_id, expected, found });
  }
  return rows[0]?.total ?? 0;
}

interface Row {
  readonly kind: Drift['kind'];
  readonly request_id: string;
  readonly merchant_id: string;
  readonly expected: string;
  readonly found: string;
  readonly total: number;
}
