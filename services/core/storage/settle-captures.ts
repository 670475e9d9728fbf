import type { HoldBooks } from '../domain/hold.ts';
import { byIndex } from './by-index.ts';
import type { Query, Statement } from './database.ts';
import { appendOperations, type OperationInput, SETTLED, type Settled, settled } from './operation-log.ts';

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
  const operations = results.map((result) => result.operation);
  return settled(await query(SETTLE_CAPTURES, [booksAsText(results), JSON.stringify(operations)]));
}

/** JSON with int64 as text. */
export function booksAsText(rows: readonly object[]): string {
  return JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? value.toString() : value));
}

/** SQL that writes a JSON `books` column (HoldBooks) into `hold`. */
export const SET_BOOKS = `status = i.books->>'status', captured = (i.books->>'captured')::bigint,
      in_flight = (i.books->>'inFlight')::bigint, remaining = (i.books->>'remaining')::bigint,
      released = (i.books->>'released')::bigint, reversed = (i.books->>'reversed')::bigint,
      release_reason = i.books->>'releaseReason', closing = (i.books->>'closing')::boolean,
      closed_at = case when i.books->>'status' in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') then null
        else coalesce(h.closed_at, i.at) end`;

const SETTLE_CAPTURES: Statement = {
  name: 'settle-captures',
  text: `with input as materialized (
    select * from json_to_recordset($1::json) as i("requestId" uuid, "holdRequestId" uuid, ok boolean, at timestamptz,
      "bankReference" text, "processorReference" text, "processorCode" text, "processorMessage" text, books json)
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
    returning c.request_id as subject_id
  ),
  booked as (
    update hold h set ${SET_BOOKS}
    from input i
    where ${byIndex('h.request_id', 'i."holdRequestId"')} and i."requestId" in (select subject_id from changed)
    returning h.request_id
  ),
  ${appendOperations('$2')}
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
