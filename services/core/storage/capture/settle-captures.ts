import type { HoldBooks } from '../../domain/hold.ts';
import { byIndex } from '../by-index.ts';
import { camelCased } from '../camel-cased.ts';
import type { Query, Statement } from '../database.ts';
import { LOCK_UNCHANGED_HOLDS, type ReadHold } from '../hold/read-holds.ts';
import {
  APPEND_OPERATIONS,
  type OperationInput,
  type Settled,
  settled,
  settledBy,
} from '../operation/operation-log.ts';

/** How a capture ended; `books` are what the hold's books become. */
export interface CaptureResult {
  readonly requestId: string;
  readonly holdRequestId: string;
  /** The hold's, as `books` were reckoned. */
  readonly version: string;
  readonly ok: boolean;
  readonly at: string;
  readonly bankReference?: string | undefined;
  readonly processorReference?: string | undefined;
  readonly processorCode?: string | undefined;
  readonly processorMessage?: string | undefined;
  readonly books: HoldBooks;
  readonly operation: OperationInput;
}

/**
 * Ends captures, each of another hold, with the hold's books, the operations and deliveries. A capture that had ended already, and
 * one whose hold is locked or has changed, is left as it is.
 */
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
    select * from json_to_recordset($1::json) as i("requestId" uuid, "holdRequestId" uuid, version xid, ok boolean,
      at timestamptz, "bankReference" text, "processorReference" text, "processorCode" text, "processorMessage" text,
      books json, operation json)
  ),
  ${LOCK_UNCHANGED_HOLDS},
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
    from locked i
    where ${byIndex('c.request_id', 'i."requestId"')} and c.state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW')
    returning c.request_id as subject_id, i."holdRequestId", i.at, i.books, i.operation
  ),
  ${BOOK_CHANGED},
  ${APPEND_OPERATIONS}
  ${settledBy('"holdRequestId"')}`,
};

/** Reads the holds of captures that have no result yet, by the capture's requestId: both as of one moment. */
export async function readHoldsOfOpenCaptures(
  query: Query,
  requestIds: readonly string[],
): Promise<ReadonlyMap<string, ReadHold>> {
  const rows = await query<{ capture: string }>(HOLDS_OF_OPEN_CAPTURES, [requestIds]);
  return new Map(rows.map((row) => [row.capture, camelCased<ReadHold>(row)]));
}

const HOLDS_OF_OPEN_CAPTURES: Statement = {
  name: 'holds-of-open-captures',
  text: `select c.request_id as capture, h.xmin::text as version, h.*
    from capture c join hold h on ${byIndex('h.request_id', 'c.hold_request_id')}
    where c.request_id = any($1::uuid[]) and c.state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW')`,
};
