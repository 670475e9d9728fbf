import { byIndex } from './by-index.ts';
import { claimKeys, type KeyInput } from './claim-key.ts';
import type { Query, Statement } from './database.ts';

/** A capture whose amount is to be reserved; its hold is locked by this transaction. */
export interface CaptureInput {
  readonly requestId: string;
  readonly holdRequestId: string;
  readonly merchantId: string;
  /** Minor units. */
  readonly amount: string;
  readonly currency: string;
  readonly finalCapture: boolean;
  /** Whether nothing else may be captured until this one has its result. */
  readonly closing: boolean;
  readonly createdAt: string;
  readonly inquireAt: string;
  readonly key?: KeyInput | undefined;
}

/**
 * Reserves captures: the statement itself refuses what the hold no longer has, and what comes under a key that is taken.
 * That the hold is placed and open was judged under its lock, and its CHECK constraints say so again: a closed hold has nothing
 * remaining, one that is not placed nothing in flight. Answers, for each, whether it was reserved.
 */
export async function reserveCaptures(query: Query, captures: readonly CaptureInput[]): Promise<boolean[]> {
  const rows = await query<{ request_id: string }>(RESERVE_CAPTURES, [JSON.stringify(captures)]);
  const reserved = new Set(rows.map((row) => row.request_id));
  return captures.map((capture) => reserved.has(capture.requestId));
}

const RESERVE_CAPTURES: Statement = {
  name: 'reserve-captures',
  text: `with input as materialized (
    select * from json_to_recordset($1::json) as i("requestId" uuid, "holdRequestId" uuid, "merchantId" text,
      amount bigint, currency text, "finalCapture" boolean, closing boolean, "createdAt" timestamptz,
      "inquireAt" timestamptz, key json)
  ),
  ${claimKeys('input')},
  changed as (
    update hold h set remaining = h.remaining - i.amount, in_flight = h.in_flight + i.amount, closing = i.closing
    from input i
    where ${byIndex('h.request_id', 'i."holdRequestId"')} and h.remaining >= i.amount and not h.closing
      and (i.key is null or i."requestId" in (select request_id from claimed))
    returning i."requestId" as subject_id
  )
  insert into capture (request_id, hold_request_id, merchant_id, state, amount, currency, final_capture, reversed,
    created_at, inquire_at, inquiry_count)
  select "requestId", "holdRequestId", "merchantId", 'PENDING', amount, currency, "finalCapture", false, "createdAt",
    "inquireAt", 0
  from input where "requestId" in (select subject_id from changed)
  returning request_id`,
};
