import type { HoldBooks } from '../../domain/hold.ts';
import { byIndex } from '../by-index.ts';
import type { Query, Statement } from '../database.ts';
import { LOCK_UNCHANGED_HOLDS } from '../hold/read-holds.ts';
import {
  APPEND_OPERATIONS,
  type OperationInput,
  type Settled,
  settled,
  settledBy,
} from '../operation/operation-log.ts';
import { BOOK_CHANGED, booksAsText } from './settle-captures.ts';

/** What the card scheme took back of a capture or hold, or gave again. */
export interface TakenBackInput {
  readonly requestId: string;
  readonly holdRequestId: string;
  /** Absent = it is not known of which capture. */
  readonly captureRequestId?: string | undefined;
  /** What is taken back of the capture then, minor units. */
  readonly captureReversed?: bigint | undefined;
  /** The hold's, as `books` were reckoned. */
  readonly version: string;
  readonly at: string;
  readonly eventId: string;
  readonly eventProcessor: string;
  /** Hexadecimal. */
  readonly digest: string;
  readonly books: HoldBooks;
  readonly operation: OperationInput;
}

/**
 * Books it, and remembers the event that reported it. When the event is remembered already, or the hold is locked or has changed, nothing
 * is written.
 */
export async function bookTakenBack(query: Query, taken: TakenBackInput): Promise<Settled> {
  return settled(await query(TAKE_BACK, [booksAsText([taken])]));
}

const TAKE_BACK: Statement = {
  name: 'take-back',
  text: `with input as materialized (
    select * from json_to_recordset($1::json) as i("requestId" uuid, "holdRequestId" uuid, "captureRequestId" uuid,
      "captureReversed" bigint, version xid, at timestamptz, "eventId" text,
      "eventProcessor" text, digest text, books json, operation json)
  ),
  ${LOCK_UNCHANGED_HOLDS},
  remembered as (
    insert into processor_event (id, processor, received_at, digest)
    select "eventId", "eventProcessor", at, decode(digest, 'hex') from locked on conflict (id, processor) do nothing returning id
  ),
  changed as materialized (
    select i."requestId" as subject_id, i.* from locked i join remembered r on r.id = i."eventId"
  ),
  marked as (
    update capture c set amount_reversed = i."captureReversed", reversed = i."captureReversed" = c.amount
    from changed i where ${byIndex('c.request_id', 'i."captureRequestId"')}
  ),
  ${BOOK_CHANGED},
  ${APPEND_OPERATIONS}
  ${settledBy('"holdRequestId"')}`,
};
