import { byIndex } from '../by-index.ts';
import { camelCased } from '../camel-cased.ts';
import type { Query, Statement } from '../database.ts';
import type { ReadHold } from '../hold/read-holds.ts';
import {
  type Booking,
  booksAsText,
  type Settled,
  type SubmissionResult,
  settlementOnHold,
  settleSubmissions,
} from '../operation/settle-submissions.ts';

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

/** How a capture ended. */
export interface CaptureResult extends SubmissionResult, Booking {
  readonly bankReference?: string | undefined;
}

/** Ends captures, each of another hold. */
export function settleCaptures(query: Query, results: readonly CaptureResult[]): Promise<Settled> {
  return settleSubmissions(query, SETTLE_CAPTURES, booksAsText(results));
}

const SETTLE_CAPTURES = settlementOnHold('settle-captures', 'capture', {
  input: '"bankReference" text',
  set: `state = case when i.ok then 'OK' else 'KO' end, bank_reference = i."bankReference",
      capture_date = case when i.ok then i.at end,
      remaining_after = case when i.ok then (i.books->>'remaining')::bigint end,
      released_after = case when i.ok then (i.books->>'released')::bigint end,
      status_after = case when i.ok then i.books->>'status' end`,
});
