import { byIndex } from '../by-index.ts';
import type { Query } from '../database.ts';
import type { OperationInput } from '../operation/operation-log.ts';
import {
  type Booking,
  booking,
  booksAsText,
  type Settled,
  settleSubmissions,
} from '../operation/settle-submissions.ts';

/** What the card scheme took back of a capture or hold, or gave again. */
export interface TakenBackInput extends Booking {
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
  readonly operation: OperationInput;
}

/** Books it, and remembers the event that reported it. When the event is remembered already, nothing is written. */
export function bookTakenBack(query: Query, taken: TakenBackInput): Promise<Settled> {
  return settleSubmissions(query, TAKE_BACK, booksAsText([taken]));
}

const TAKE_BACK = booking(
  'take-back',
  `"requestId" uuid, "captureRequestId" uuid, "captureReversed" bigint, at timestamptz, "eventId" text,
      "eventProcessor" text, digest text, operation json`,
  [
    `remembered as (
    insert into processor_event (id, processor, received_at, digest)
    select "eventId", "eventProcessor", at, decode(digest, 'hex') from locked where "eventId" is not null
    on conflict (id, processor) do nothing returning id
  )`,
    `changed as materialized (
    select i."requestId" as subject_id, i.* from locked i
    where i."eventId" is null or i."eventId" in (select id from remembered)
  )`,
    `marked as (
    update capture c set amount_reversed = i."captureReversed", reversed = i."captureReversed" = c.amount
    from changed i where ${byIndex('c.request_id', 'i."captureRequestId"')}
  )`,
  ],
);
