import { setTimeout as delay } from 'node:timers/promises';
import type { Message } from '@bufbuild/protobuf';
import type pg from 'pg';
import { validate as isUuid } from 'uuid';
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

/** The extent of the audit, in the contract's form. */
export interface Audited extends Readonly<Omit<AuditSummary, keyof Message | 'ledgers'>> {
  /** The first drifts of each check. */
  readonly found: readonly Drift[];
  readonly ledgers: EntryCount[];
  /** Of each processor whose books could not be read, so they were not compared: why, with its name. */
  readonly unread: readonly string[];
  /** Differences that could not be judged, in words: they changed at each reading, or are too many to be read again. */
  readonly unjudged: readonly string[];
}

export interface AuditParts extends Pick<Reading, 'mostUnknown'> {
  readonly databaseUrl: string;
  /** Absent: audits our own books alone. */
  readonly processors?: Ledgers | undefined;
  /** Maximum drifts returned for each check; all are counted. */
  readonly most: number;
  /** Milliseconds to wait before differences from the processor's books are read again. */
  readonly patienceMs: number;
  /** Maximum suspects of each check that are read again; default MOST_SUSPECTS. */
  readonly mostSuspects?: number | undefined;
}

/** The checks of compared-books.sql: of our books alone, and beside those of the processors. */
const BOOKS_CHECKS = [
  'hold_counters',
  'hold_state',
  'authorizations_differ',
  'submission_without_hold',
  'reversals_differ',
  'refunds_differ',
  'returns_differ',
  'corrections_differ',
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
    const [counts] = (
      await client.query<Omit<Audited, 'entries' | 'ledgers' | 'drifts' | 'found' | 'unread' | 'unjudged'>>(COUNTS)
    ).rows;
    if (!counts) throw new Error('the counts are not there');
    const books = await differing(client, BOOKS_CHECKS, most);
    await client.query('commit');
    const beside = parts.processors
      ? await reconcile(comparison, patienceMs, parts.mostSuspects ?? MOST_SUSPECTS)
      : NOTHING_COMPARED;
    const found = [...books.drifts, ...beside.drifts.slice(0, most)];
    const entries = ledgers.reduce((total, ledger) => total + ledger.entries, 0);
    const { rows: leftOut } = await client.query<{ why: string }>('select why from left_out order by processor');
    const unread = leftOut.map(({ why }) => why);
    return {
      ...counts,
      entries,
      ledgers,
      drifts: books.total + beside.total,
      found,
      unread,
      unjudged: beside.unjudged,
    };
  });
}

const COUNTS = `select (select count(*) from hold)::int as holds, (select count(*) from operation)::int as operations,
    count(*) filter (where kind = 'CAPTURE')::int as captures,
    count(*) filter (where kind in ('RELEASE', 'EXPIRY', 'LATE_VOID'))::int as releases,
    count(*) filter (where kind = 'REFUND')::int as refunds, count(*) filter (where kind = 'OCT')::int as octs,
    (count(*) filter (where state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW'))
      + (select count(*) from hold where phase not in ('AUTHORIZED', 'FAILED')))::int as "inFlight"
  from submission`;

/** The differences: the first of each check, and their number. */
interface Differing {
  readonly drifts: readonly Drift[];
  readonly total: number;
}

/** The differences from the processors' books, and those that could not be judged, in words. */
interface Reconciled extends Differing {
  readonly unjudged: readonly string[];
}

const NOTHING_COMPARED: Reconciled = { drifts: [], total: 0, unjudged: [] };

/**
 * Both books change while they are read, so what differs at first is only suspect. Each suspect is read again a little
 * later; what still differs while our books of it have not changed during the reading is a drift.
 */
async function reconcile(comparison: Comparison, patienceMs: number, most: number): Promise<Reconciled> {
  const { client } = comparison;
  const first = await differing(client, LEDGER_CHECKS, most);
  if (first.total > 0) await delay(patienceMs);
  const ids = first.drifts.map(({ requestId }) => requestId);
  const { rows: suspects } = await client.query<Suspect>(SUSPECT_OF, [ids.filter(isUuid)]);
  // An identifier that is no UUID is in the processor's books alone, and is not read again.
  const drifts = first.drifts.filter(({ requestId }) => !isUuid(requestId));
  const unjudged: string[] = [];
  for (const suspect of suspects) {
    const found = await judgeStill(comparison, suspect);
    if (found) drifts.push(...found);
    else unjudged.push(`${suspect.id} changed at each reading`);
  }
  const rest = first.total - first.drifts.length;
  if (rest > 0) unjudged.push(`${rest} more differ, too many to be read again: audit again once these are settled`);
  return { drifts, total: drifts.length, unjudged };
}

/** Suspects of each check that are read again, one by one. */
const MOST_SUSPECTS = 1_000;

/** A hold or an OCT, or what only a processor knows, by whose identifier its books are read. */
interface Suspect {
  readonly id: string;
  readonly identifier: string;
}

/**
 * The subjects of drifts: a submission's hold, or itself. A drift may name an operation of the processor's books only.
 */
const SUSPECT_OF = `select distinct coalesce(h.request_id, s.request_id, suspect.id) as id,
    coalesce(h.identifier, s.identifier, e.authorization_request_id, suspect.id) as identifier
  from unnest($1::uuid[]) as suspect(id) left join our_submission s on s.request_id = suspect.id
    left join processor_entry e on e.request_id = suspect.id
    left join our_renewal r on s.request_id is null and r.identifier = e.authorization_request_id
    left join our_hold h on h.request_id = coalesce(s.hold_request_id, r.hold_request_id, suspect.id)
      or (s.request_id is null and (h.request_id = e.authorization_request_id
        or h.processor_request_id = e.authorization_request_id))`;

/** Reads a suspect again until our books of it stand still meanwhile. Undefined = they never did. */
async function judgeStill(comparison: Comparison, suspect: Suspect): Promise<readonly Drift[] | undefined> {
  const { client } = comparison;
  const version = async () => (await client.query<{ version: string }>(VERSION_OF, [suspect.id])).rows[0]?.version;
  for (let reading = 1; reading <= MOST_READINGS; reading += 1) {
    const before = await version();
    await readAgain(comparison, [suspect.id]);
    await client.query('begin isolation level repeatable read');
    const stands = (await version()) === before;
    const found = stands ? await differing(client, LEDGER_CHECKS, MOST_SUSPECTS, suspect) : undefined;
    await client.query('commit');
    if (found) return found.drifts;
    await delay(reading * READING_PAUSE_MS);
  }
  return undefined;
}

/** A hold that is captured a few times a second stands still during one of these readings, within two seconds. */
const MOST_READINGS = 20;
const READING_PAUSE_MS = 10;

/** A hold's row changes with each of its submissions. */
const VERSION_OF = `select coalesce((select xmin::text from hold where request_id = $1),
  (select xmin::text from submission where request_id = $1)) as version`;

/** The findings of the checks: at most `most` of each. With a suspect, only those about it. */
async function differing(
  client: pg.Client,
  checks: readonly string[],
  most: number,
  suspect?: Suspect,
): Promise<Differing> {
  const drifts: Drift[] = [];
  let total = 0;
  const { rows: about } = suspect ? await client.query<{ id: string }>(IDS_OF, [suspect.id, suspect.identifier]) : {};
  const ids = about?.map(({ id }) => id);
  for (const check of checks) {
    const { rows } = await client.query<Drift & { readonly total: number }>(
      `select kind, request_id as "requestId", merchant_id as "merchantId", expected, found,
        count(*) over ()::int as total
      from ${check} ${ids ? 'where request_id::text = any($2)' : ''} limit $1`,
      ids ? [most, ids] : [most],
    );
    drifts.push(...rows.map(({ total: _, ...drift }) => drift));
    total += rows[0]?.total ?? 0;
  }
  return { drifts, total };
}

/** All identifiers under which something about a suspect may be found. */
const IDS_OF = `with authorization_of as (
    select $2::uuid as id union select identifier from our_renewal where hold_request_id = $1::uuid
  )
  select $1::uuid::text as id union select request_id::text from submission where hold_request_id = $1::uuid
  union select request_id::text from processor_entry where request_id in (select id from authorization_of)
    or authorization_request_id in (select id from authorization_of)`;
