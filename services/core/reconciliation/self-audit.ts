import { setTimeout as delay } from 'node:timers/promises';
import type { Message } from '@bufbuild/protobuf';
import type pg from 'pg';
import type { AuditSummary, Drift as DriftMessage } from '../../../proto/gen/holdfast/v1/audit_pb.js';
import {
  type Comparison,
  comparing,
  copyEntries,
  type EntryCount,
  type Ledgers,
  type Reading,
  readAgain,
} from './copy-entries.ts';

/** One drift, in the contract's form; its kinds are those of the views in compared-books.sql. */
export type Drift = Readonly<Omit<DriftMessage, keyof Message>>;

/** What was looked at, in the contract's form. */
export interface Audited extends Readonly<Omit<AuditSummary, keyof Message | 'ledgers'>> {
  /** The first drifts of each check. */
  readonly found: readonly Drift[];
  readonly ledgers: EntryCount[];
  /** Of each processor whose books could not be read, so they were not compared: why, with its name. */
  readonly unread: readonly string[];
}

export interface AuditParts extends Pick<Reading, 'mostUnknown'> {
  readonly databaseUrl: string;
  /** Absent: audits our own books alone. */
  readonly processors?: Ledgers | undefined;
  /** Maximum drifts returned for each check; all are counted. */
  readonly most: number;
  /** How long to wait before reading again what differs from the processor's books, milliseconds. */
  readonly patienceMs: number;
}

/** The checks of compared-books.sql: of our books alone, and beside those of the processors. */
const BOOKS_CHECKS = [
  'hold_counters',
  'hold_state',
  'submission_without_hold',
  'reversals_differ',
  'refunds_differ',
  'operations_differ',
];
const LEDGER_CHECKS = ['invalid_entries', 'results_differ', 'unknown_here', 'sums_of_holds', 'sums_of_captures'];

/**
 * Recomputes the books: each hold's counters from its captures and releases, each final submission against the log of
 * operations, and everything against the processor's own books. It only reads, and operations in flight are no drift.
 * The books of a processor that does not answer are left out.
 */
export function audit(parts: AuditParts): Promise<Audited> {
  return comparing(parts.databaseUrl, async (client) => {
    const { processors = new Map(), most, patienceMs } = parts;
    const comparison = { client, processors, unreadable: 'LEAVE_OUT' } as const;
    const ledgers = await copyEntries(comparison, { mostUnknown: parts.mostUnknown });
    await client.query('begin isolation level repeatable read');
    const [counts] = (await client.query<Omit<Audited, 'entries' | 'ledgers' | 'drifts' | 'found' | 'unread'>>(COUNTS))
      .rows;
    if (!counts) throw new Error('the counts are not there');
    const books = await differing(client, BOOKS_CHECKS, most);
    await client.query('commit');
    const beside = parts.processors ? await reconcile(comparison, patienceMs) : { drifts: [], total: 0 };
    const found = [...books.drifts, ...beside.drifts.slice(0, most)];
    const entries = ledgers.reduce((total, ledger) => total + ledger.entries, 0);
    const { rows: leftOut } = await client.query<{ why: string }>('select why from left_out order by processor');
    const unread = leftOut.map(({ why }) => why);
    return { ...counts, entries, ledgers, drifts: books.total + beside.total, found, unread };
  });
}

const COUNTS = `select (select count(*) from hold)::int as holds, (select count(*) from operation)::int as operations,
    count(*) filter (where kind = 'CAPTURE')::int as captures,
    count(*) filter (where kind in ('RELEASE', 'EXPIRY', 'LATE_VOID'))::int as releases,
    count(*) filter (where kind = 'REFUND')::int as refunds, count(*) filter (where kind = 'OCT')::int as octs,
    (count(*) filter (where state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW'))
      + (select count(*) from hold where phase not in ('AUTHORIZED', 'FAILED')))::int as "inFlight"
  from submission`;

/** What differs: the first of each check, and how many there are. */
interface Differing {
  readonly drifts: readonly Drift[];
  readonly total: number;
}

/** Both books change while they are read: drift is what differs, and still does a little later. */
async function reconcile(comparison: Comparison, patienceMs: number): Promise<Differing> {
  const compare = () => differing(comparison.client, LEDGER_CHECKS, SUSPECTS);
  const first = await compare();
  if (first.total === 0 || first.total > first.drifts.length) return first;
  await delay(patienceMs);
  const suspects = first.drifts.map(({ requestId }) => requestId);
  await readAgain(comparison, suspects);
  const before = new Set(first.drifts.map((drift) => JSON.stringify(drift)));
  const drifts = (await compare()).drifts.filter((drift) => before.has(JSON.stringify(drift)));
  return { drifts, total: drifts.length };
}

/** Maximum number read again, one by one. With more than this, a few false reports do not matter. */
const SUSPECTS = 1_000;

async function differing(client: pg.Client, checks: readonly string[], most: number): Promise<Differing> {
  const drifts: Drift[] = [];
  let total = 0;
  for (const check of checks) {
    const { rows } = await client.query<Drift & { readonly total: number }>(
      `select kind, request_id as "requestId", merchant_id as "merchantId", expected, found,
        count(*) over ()::int as total
      from ${check} limit $1`,
      [most],
    );
    drifts.push(...rows.map(({ total: _, ...drift }) => drift));
    total += rows[0]?.total ?? 0;
  }
  return { drifts, total };
}
