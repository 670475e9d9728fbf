import { type Query, sql } from '../database.ts';
import { APPEND_RESULTS, type ResultInput } from '../operation/append-results.ts';
import {
  BOOKS_INPUT,
  type BooksInput,
  DONE,
  SET_BOOKS,
  type Settled,
  settleEach,
} from '../submission/settle-submissions.ts';
import { versionOf } from './hold-version.ts';

/** What the card scheme took back of a capture or hold, or gave again. */
export interface TakenBackInput extends BooksInput {
  readonly requestId: string;
  /** Absent = it is not known of which capture. */
  readonly captureRequestId?: string | undefined;
  /** What is taken back of the capture then, minor units. */
  readonly captureReversed?: bigint | undefined;
  readonly at: string;
  /** The event that reported it; absent = it is imported. */
  readonly eventId?: string | undefined;
  readonly eventProcessor?: string | undefined;
  /** Hexadecimal. */
  readonly digest?: string | undefined;
  readonly operation: ResultInput;
}

/** Books it, and remembers the event that reported it. When the event is remembered already, nothing is written. */
export function bookTakenBack(query: Query, taken: TakenBackInput): Promise<Settled> {
  return settleEach(query, TAKE_BACK, [taken]);
}

export const TAKE_BACK = sql('take-back')`with input as materialized (
    select * from json_to_recordset($1::json) as i("requestId" uuid, "captureRequestId" uuid, "captureReversed" bigint,
      at timestamptz, "eventId" text, "eventProcessor" text, digest text, operation json,
      ${BOOKS_INPUT})
  ),
  locked as materialized (
    select i.*, h.merchant_id, h.notification_count + 1 as "holdSequence" from input i
      join hold h on h.request_id = any (array[i."holdRequestId"])
    where ${versionOf('h')} = i.version for no key update of h skip locked
  ),
  remembered as (
    insert into processor_event (id, processor, merchant_id, received_at, digest)
    select "eventId", "eventProcessor", merchant_id, at, decode(digest, 'hex') from locked where "eventId" is not null
    on conflict (id, processor) do nothing returning id
  ),
  changed as materialized (
    select i."requestId" as subject_id, i.* from locked i
    where i."eventId" is null or i."eventId" in (select id from remembered)
  ),
  marked as (
    update submission s set amount_reversed = i."captureReversed"
    from changed i where s.request_id = any (array[i."captureRequestId"])
  ),
  booked as (
    update hold h set ${SET_BOOKS} from changed c where h.request_id = any (array[c."holdRequestId"])
  ),
  ${APPEND_RESULTS}
  ${DONE}`;
