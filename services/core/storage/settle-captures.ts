import type { HoldBooks } from '../domain/hold.ts';
import { byIndex } from './by-index.ts';
import type { Query, Statement } from './database.ts';
import { APPEND_OPERATIONS, type OperationInput, SETTLED, type Settled, settled } from './operation-log.ts';

/** How a capture ended; its hold is locked by this transaction, and `books` are what the hold's books become. */
export interface CaptureResult {
  readonly requestId: string;
  readonly holdRequestId: string;
  readonly ok: boolean;
  readonly at: string;
  readonly bankReference?: string | undefined;
  readonly processorReference?: string | undefined;
  readonly processorCode?: string | undefined;
  readonly processorMessage?: string | undefined;
  readonly books: HoldBooks;
  readonly operation: OperationInput;
}

/** Ends captures, with the hold's books, the operations and deliveries. A capture that had ended already changes nothing. */
export async function settleCaptures(query: Query, results: readonly CaptureResult[]): Promise<Settled> {
  return settled(await query(SETTLE_CAPTURES, [booksAsText(results)]));
}

/** JSON with int64 as text. */
export function booksAsText(rows: readonly object[]): string {
  return JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? value.toString() : value));
}

/** SQL that books what has changed: `changed` returns, besides what the log needs, holdRequestId, at and books (JSON, HoldBooks). */
export const BOOK_CHANGED = bookChanged('');

/** The same, with more assignments; `c` is the row that changed. */
export function bookChanged(more: string): string {
  return `booked as (
    update hold h set status = b.status, captured = b.captured, in_flight = b."inFlight", remaining = b.remaining,
      released = b.released, reversed = b.reversed, release_reason = b."releaseReason", closing = b.closing,
      closed_at = case when b.status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') then null else coalesce(h.closed_at, c.at) end${more}
    from changed c
    cross join lateral json_to_record(c.books) as b(status text, captured bigint, "inFlight" bigint, remaining bigint,
      released bigint, reversed bigint, "releaseReason" text, closing boolean)
    where ${byIndex('h.request_id', 'c."holdRequestId"')}
  )`;
}

const SETTLE_CAPTURES: Statement = {
  name: 'settle-captures',
  text: `with input as materialized (
    select * from json_to_recordset($1::json) as i("requestId" uuid, "holdRequestId" uuid, ok boolean, at timestamptz,
      "bankReference" text, "processorReference" text, "processorCode" text, "processorMessage" text, books json, operation json)
  ),
  changed as (
    update capture c set
      state = case when i.ok then 'OK' else 'KO' end,
      capture_date = case when i.ok then i.at end,
      bank_reference = i."bankReference", processor_reference = i."processorReference",
      processor_code = i."processorCode", processor_message = i."processorMessage",
      remaining_after = case when i.ok then (i.books->>'remaining')::bigint end,
      released_after = case when i.ok then (i.books->>'released')::bigint end,
      status_after = case when i.ok then i.books->>'status' end,
      inquire_at = null
    from input i
    where ${byIndex('c.request_id', 'i."requestId"')} and c.state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW')
    returning c.request_id as subject_id, i."holdRequestId", i.at, i.books, i.operation
  ),
  ${BOOK_CHANGED},
  ${APPEND_OPERATIONS}
  ${SETTLED}`,
};

/** Which of the captures have no result yet; their holds are locked by this transaction, so none gets one meanwhile. */
export async function openCaptures(query: Query, requestIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await query<{ request_id: string }>(OPEN_CAPTURES, [requestIds]);
  return new Set(rows.map((row) => row.request_id));
}

const OPEN_CAPTURES: Statement = {
  name: 'open-captures',
  text: `select request_id from capture where request_id = any($1::uuid[]) and state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW')`,
};
