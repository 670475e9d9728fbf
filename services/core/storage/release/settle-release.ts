import type { HoldBooks } from '../../domain/hold.ts';
import { byIndex } from '../by-index.ts';
import { bookChanged, booksAsText } from '../capture/settle-captures.ts';
import type { Query, Statement } from '../database.ts';
import { LOCK_UNCHANGED_HOLDS } from '../hold/read-holds.ts';
import {
  APPEND_OPERATIONS,
  type OperationInput,
  type Settled,
  settled,
  settledBy,
} from '../operation/operation-log.ts';

/** How a release ended; `books` are what the hold's books become. */
export interface ReleaseResult {
  readonly requestId: string;
  readonly holdRequestId: string;
  /** The hold's, as `books` were reckoned. */
  readonly version: string;
  readonly ok: boolean;
  readonly at: string;
  /** What the processor says that it gave back, minor units. */
  readonly amountReleased?: bigint | undefined;
  readonly processorReference?: string | undefined;
  readonly processorCode?: string | undefined;
  readonly processorMessage?: string | undefined;
  readonly books: HoldBooks;
  /** True when the hold was never placed and is now given up. */
  readonly fails: boolean;
  /** True when the processor gave back something else than what our books had left. */
  readonly freezes: boolean;
  /** Absent when nothing is to be told: a void of a late authorization. */
  readonly operation?: OperationInput | undefined;
}

/**
 * Ends a release, with the hold's books, the operation and its delivery. A release that had ended already, and one whose hold is locked
 * or has changed, is left as it is.
 */
export async function settleRelease(query: Query, result: ReleaseResult): Promise<Settled> {
  return settled(await query(SETTLE_RELEASE, [booksAsText([result])]));
}

const SETTLE_RELEASE: Statement = {
  name: 'settle-release',
  text: `with input as materialized (
    select * from json_to_recordset($1::json) as i("requestId" uuid, "holdRequestId" uuid, version xid, ok boolean,
      at timestamptz, "amountReleased" bigint, "processorReference" text, "processorCode" text, "processorMessage" text, books json, fails boolean,
      freezes boolean, operation json)
  ),
  ${LOCK_UNCHANGED_HOLDS},
  changed as (
    update release r set
      state = case when i.ok then 'OK' else 'KO' end, final_at = i.at, amount_released = i."amountReleased", processor_reference = i."processorReference",
      processor_code = i."processorCode", processor_message = i."processorMessage", inquire_at = null
    from locked i
    where ${byIndex('r.request_id', 'i."requestId"')} and r.state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW')
    returning r.request_id as subject_id, i."holdRequestId", i.at, i.books, i.operation, i.fails, i.freezes, i."processorCode",
      i."processorMessage"
  ),
  ${bookChanged(`,
      frozen = h.frozen or c.freezes,
      phase = case when c.fails then 'FAILED' else h.phase end,
      processor_code = case when c.fails then c."processorCode" else h.processor_code end,
      processor_message = case when c.fails then c."processorMessage" else h.processor_message end,
      inquire_at = case when c.fails then null else h.inquire_at end`)},
  ${APPEND_OPERATIONS}
  ${settledBy('"holdRequestId"')}`,
};
