import type { HoldBooks } from '../../domain/hold.ts';
import type { SubmissionTable } from '../../domain/kinds.ts';
import { byIndex } from '../by-index.ts';
import type { Query, Statement } from '../database.ts';
import { LOCK_UNCHANGED_HOLDS } from '../hold/read-holds.ts';
import { APPEND_OPERATIONS, type OperationInput } from './operation-log.ts';
import { SUBMISSIONS } from './submissions.ts';

/** How a submission ended. It goes as JSON: times are RFC 3339. */
export interface SubmissionResult {
  readonly requestId: string;
  readonly ok: boolean;
  readonly at: string;
  readonly processorReference?: string | undefined;
  readonly processorCode?: string | undefined;
  readonly processorMessage?: string | undefined;
  readonly operation: OperationInput;
}

/** What changes the books of a hold. */
export interface Booking {
  readonly holdRequestId: string;
  /** The hold's, as `books` were reckoned. */
  readonly version: string;
  /** What the hold's books become. */
  readonly books: HoldBooks;
}

/** Which subjects a statement changed, and the deliveries it made. */
export interface Settled {
  readonly changed: ReadonlySet<string>;
  /** The rows that it could lock: the submissions' own, or their holds. What was not among them is to be tried again. */
  readonly locked: ReadonlySet<string>;
  readonly deliveryIds: ReadonlySet<string>;
}

/**
 * Ends submissions by a statement of this file, with their operations and deliveries. One that had ended already, one that somebody
 * else has locked, and one whose hold has changed, is left as it is.
 */
export async function settleSubmissions(query: Query, statement: Statement, results: string): Promise<Settled> {
  const rows = await query<{ what: string; id: string }>(statement, [results]);
  const idsOf = (what: string) => new Set(rows.filter((row) => row.what === what).map((row) => row.id));
  return { changed: idsOf('changed'), locked: idsOf('locked'), deliveryIds: idsOf('delivery') };
}

/** Results as JSON, with the int64 of their books as text. */
export function booksAsText(results: readonly Booking[]): string {
  return JSON.stringify(results, (_, value) => (typeof value === 'bigint' ? value.toString() : value));
}

/** What only the results of one table have, besides SubmissionResult. SQL. */
interface OwnResult {
  /** Columns of the input, with their types. */
  readonly input: string;
  /** Assignments to the row `s` from the input's row `i`. */
  readonly set: string;
}

/** Makes a statement that ends submissions (SubmissionResult) which change no other row. */
export function settlement(name: string, table: 'hold' | 'oct', own: OwnResult): Statement {
  const locked = `locked as materialized (
    select i.* from input i join ${table} k on ${byIndex('k.request_id', 'i."requestId"')}
    for no key update of k skip locked
  )`;
  return ending(name, `${RESULT}, ${own.input}`, [locked, changed(table, own)], '"requestId"');
}

/** Makes a statement that ends submissions (SubmissionResult and Booking), each of another hold. */
export function settlementOnHold(
  name: string,
  table: 'capture' | 'release',
  { setHold, ...own }: OwnResult & { readonly setHold?: string },
): Statement {
  return booking(name, `${RESULT}, ${own.input}`, [changed(table, own)], setHold);
}

/**
 * Makes a statement that changes the books of holds (Booking), where they are as they were read. `changes` are common tables; one of them is
 * `changed`, with `subject_id` and the columns of `locked`. `setHold` are more assignments to the hold `h` from its row `c`.
 */
export function booking(name: string, input: string, changes: readonly string[], setHold = ''): Statement {
  const booked = `booked as (
    update hold h set status = b.status, captured = b.captured, in_flight = b."inFlight", remaining = b.remaining,
      released = b.released, reversed = b.reversed, release_reason = b."releaseReason", closing = b.closing,
      closed_at = case when b.status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') then null else coalesce(h.closed_at, c.at) end${setHold}
    from changed c
    cross join lateral json_to_record(c.books) as b(status text, captured bigint, "inFlight" bigint, remaining bigint,
      released bigint, reversed bigint, "releaseReason" text, closing boolean)
    where ${byIndex('h.request_id', 'c."holdRequestId"')}
  )`;
  const onHold = `${input}, "holdRequestId" uuid, version xid, books json`;
  return ending(name, onHold, [LOCK_UNCHANGED_HOLDS, ...changes, booked], '"holdRequestId"');
}

const RESULT = `"requestId" uuid, ok boolean, at timestamptz, "processorReference" text, "processorCode" text,
      "processorMessage" text, operation json`;

function changed(table: SubmissionTable, { set }: OwnResult): string {
  return `changed as (
    update ${table} s set processor_reference = i."processorReference", processor_code = i."processorCode",
      processor_message = i."processorMessage", inquire_at = null, ${set}
    from locked i
    where ${byIndex('s.request_id', 'i."requestId"')} and ${SUBMISSIONS[table].state} not in ('OK', 'KO')
    returning s.request_id as subject_id, i.*
  )`;
}

/** `lockedBy`: the column of `locked` that names the rows which are locked. */
function ending(name: string, input: string, tables: readonly string[], lockedBy: string): Statement {
  const text = `with input as materialized (select * from json_to_recordset($1::json) as i(${input})),
  ${tables.join(',\n  ')},
  ${APPEND_OPERATIONS}
  select 'changed' as what, subject_id::text as id from changed
  union all select 'delivery', id::text from delivered
  union all select 'locked', ${lockedBy}::text from locked`;
  return { name, text };
}
