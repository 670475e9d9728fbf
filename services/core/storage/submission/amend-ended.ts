import { unindexed } from '../by-turns.ts';
import { isTakenBack } from '../contradiction/read-contradictions.ts';
import { type Query, sql } from '../database.ts';
import { versionOf } from '../hold/hold-version.ts';
import { APPEND_RESULTS, type ResultInput } from '../operation/append-results.ts';
import { BOOKS_INPUT, type BooksInput, done, SET_BOOKS, type Settled, settleEach } from './settle-submissions.ts';
import { CORRECT_ROOM } from './spend-limits.ts';

/** A change of an ended operation: an amount taken back or given again, or another result. Amounts are minor units. */
export interface Amendment extends Partial<BooksInput> {
  /** Names the operation that amends it. */
  readonly requestId: string;
  /** The capture, refund or OCT; absent = the hold alone. What is absent below stays as it is. */
  readonly subjectRequestId?: string | undefined;
  readonly state?: 'OK' | 'KO' | undefined;
  readonly amountReversed?: bigint | undefined;
  readonly amountReturned?: bigint | undefined;
  /** Of a capture: what it gave back, or left to the void of its authorization. */
  readonly amountReleased?: bigint | undefined;
  /** Of what has no hold, whose version would show it: what it was as this was reckoned. */
  readonly stateBefore?: 'OK' | 'KO' | undefined;
  readonly returnedBefore?: bigint | undefined;
  /** Of a refund: its capture, and how much more is refunded of it; negative = less. */
  readonly captureRequestId?: string | undefined;
  readonly refundedMore?: bigint | undefined;
  /**
   * The operator who corrects it: the hold is no longer frozen, and its contradictions are resolved. Absent = nobody.
   */
  readonly correctedBy?: string | undefined;
  readonly at: string;
  /** The event that reported it; absent = nobody did. */
  readonly eventId?: string | undefined;
  readonly eventProcessor?: string | undefined;
  /** Hexadecimal. */
  readonly digest?: string | undefined;
  /** The open contradiction that it resolves by being booked; when it is resolved already, nothing is written. */
  readonly contradictionId?: string | undefined;
  readonly operation: ResultInput;
}

/** Books it, and remembers the event that reported it. When the event is remembered already, nothing is written. */
export function amendEnded(query: Query, amendment: Amendment): Promise<Settled> {
  return settleEach(query, AMEND_ENDED, [amendment]);
}

/**
 * `locked` has the rows that have not changed since they were read. The event is stored by the same statement, so it is
 * booked once.
 */
export const AMEND_ENDED = sql('amend-ended')`with input as materialized (
    select * from json_to_recordset($1::json) as i("requestId" uuid, "subjectRequestId" uuid, state text, "amountReversed" bigint,
      "amountReturned" bigint, "amountReleased" bigint, "stateBefore" text, "returnedBefore" bigint, "captureRequestId" uuid,
      "refundedMore" bigint, "correctedBy" text, at timestamptz, "eventId" text, "eventProcessor" text, digest text, "contradictionId" uuid, operation json,
      ${BOOKS_INPUT})
  ),
  on_hold as materialized (
    select i.*, h.merchant_id, h.notification_count + 1 as "holdSequence" from input i
      join hold h on h.request_id = any (array[i."holdRequestId"])
    where ${versionOf('h')} = i.version for no key update of h skip locked
  ),
  on_itself as materialized (
    select i.*, s.merchant_id, null::int as "holdSequence" from input i
      join submission s on s.request_id = any (array[i."subjectRequestId"])
    where i."holdRequestId" is null and s.state = i."stateBefore" and s.amount_returned = i."returnedBefore"
    for no key update of s skip locked
  ),
  locked as materialized (select * from on_hold union all select * from on_itself),
  remembered as (
    insert into processor_event (id, processor, merchant_id, received_at, digest)
    select "eventId", "eventProcessor", merchant_id, at, decode(digest, 'hex') from locked where "eventId" is not null
    on conflict (id, processor) do nothing returning id
  ),
  changed as materialized (
    select i."requestId" as subject_id, i.* from locked i
    where (i."eventId" is null or i."eventId" in (select id from remembered))
      and (i."contradictionId" is null
        or exists (select from contradiction o
          where o.id = any (array[i."contradictionId"]) and ${unindexed('o.resolved_at is null')}))
  ),
  amended as (
    update submission s set state = coalesce(i.state, s.state),
      first_state = case when i.state is null then s.first_state else coalesce(s.first_state, s.state) end,
      amount_reversed = coalesce(i."amountReversed", s.amount_reversed),
      amount_returned = coalesce(i."amountReturned", s.amount_returned),
      amount_released = coalesce(i."amountReleased", s.amount_released)
    from changed i where s.request_id = any (array[i."subjectRequestId"])
  ),
  ${CORRECT_ROOM},
  refunded as (
    update submission s set amount_refunded = s.amount_refunded + i."refundedMore"
    from changed i where s.request_id = any (array[i."captureRequestId"])
  ),
  booked as (
    update hold h set ${SET_BOOKS}, frozen = h.frozen and c."correctedBy" is null,
      frozen_because = case when c."correctedBy" is null then h.frozen_because end
    from changed c where h.request_id = any (array[c."holdRequestId"])
  ),
  resolved as (
    update contradiction o set resolved_at = coalesce(o.resolved_at, c.at),
      resolved_by = coalesce(o.resolved_by, c."correctedBy"), resolution = coalesce(o.resolution, 'corrected')
    from changed c
      cross join lateral (
        select id from contradiction where hold_request_id = any (array[c."holdRequestId"])
        union select id from contradiction where request_id = any (array[c."subjectRequestId"])
      ) about
    where c."correctedBy" is not null and o.id = any (array[about.id])
      and not (c.state = 'OK' and o.resolved_at is null and ${isTakenBack('o')}
        and o.request_id = c."subjectRequestId")
  ),
  explained as (
    update contradiction o set resolved_at = c.at, resolved_by = 'core', resolution = 'booked after a correction'
    from changed c where o.id = any (array[c."contradictionId"])
  ),
  ${APPEND_RESULTS}
  ${done()}`;
