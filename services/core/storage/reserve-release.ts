import { byIndex } from './by-index.ts';
import { claimKeys, type KeyInput } from './claim-key.ts';
import type { Query, Statement } from './database.ts';
import type { ReleaseRow } from './release.ts';

/** A release of what remains of a hold, which is locked by this transaction. */
export interface ReleaseInput {
  readonly requestId: string;
  readonly holdRequestId: string;
  readonly merchantId: string;
  readonly reason: ReleaseRow['reason'];
  /** Minor units; 0 for a hold that was never placed. */
  readonly amount: string;
  readonly currency: string;
  readonly createdAt: string;
  readonly inquireAt: string;
  readonly key?: KeyInput | undefined;
}

/** Reserves a release. Answers whether it was reserved: not when its key is taken, or when something else is closing the hold. */
export async function reserveRelease(query: Query, release: ReleaseInput): Promise<boolean> {
  const rows = await query<{ request_id: string }>(RESERVE_RELEASE, [JSON.stringify([release])]);
  return rows.length === 1;
}

const RESERVE_RELEASE: Statement = {
  name: 'reserve-release',
  text: `with input as materialized (
    select * from json_to_recordset($1::json) as i("requestId" uuid, "holdRequestId" uuid, "merchantId" text,
      reason text, amount bigint, currency text, "createdAt" timestamptz, "inquireAt" timestamptz, key json)
  ),
  ${claimKeys('input')},
  changed as (
    update hold h set remaining = h.remaining - i.amount, in_flight = h.in_flight + i.amount, closing = i.reason <> 'LATE'
    from input i
    where ${byIndex('h.request_id', 'i."holdRequestId"')}
      and (i.key is null or i."requestId" in (select request_id from claimed))
      and (i.reason = 'LATE' or (not h.closing and h.in_flight = 0 and h.remaining >= i.amount
        and h.status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED')))
    returning i."requestId" as subject_id
  )
  insert into release (request_id, hold_request_id, merchant_id, reason, state, amount, currency, created_at, inquire_at,
    inquiry_count)
  select "requestId", "holdRequestId", "merchantId", reason, 'PENDING', amount, currency, "createdAt", "inquireAt", 0
  from input where "requestId" in (select subject_id from changed)
  returning request_id`,
};
