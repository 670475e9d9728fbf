import { AGAIN } from '../../../../platform/gather.ts';
import { byIndex } from '../by-index.ts';
import type { Query, Statement } from '../database.ts';
import { LOCK_UNCHANGED_HOLDS } from '../hold/read-holds.ts';
import { claimKeys, type KeyInput } from '../idempotency-key/idempotency-key.ts';
import { sentUnderKey } from '../idempotency-key/key-identifier.ts';
import { isKnownRequest, type NotStored, type Stored, sentAs } from '../operation/known-request.ts';
import type { ReleaseRow } from './release.ts';

/** A release of what remains of a hold. */
export interface ReleaseInput {
  readonly requestId: string;
  readonly holdRequestId: string;
  readonly merchantId: string;
  readonly reason: ReleaseRow['reason'];
  /** The processor ended the authorization by itself, and said what it gave back, minor units. */
  readonly reported: boolean;
  readonly amountReleased?: string | undefined;
  readonly processorReference?: string | undefined;
  /** Minor units; 0 for a hold that was never placed. */
  readonly amount: string;
  readonly currency: string;
  /** Of the hold. */
  readonly processor: string;
  readonly processorAccount: string;
  /** Its identifier there; absent = it follows from the key, or is the requestId. */
  readonly processorRequestId?: string | undefined;
  /** It is imported from the processor's books. */
  readonly imported?: boolean | undefined;
  readonly createdAt: string;
  readonly inquireAt: string;
  /** The hold's, as it was judged. */
  readonly version: string;
  /** RFC 3339, by PostgreSQL's clock; after it nothing is stored. */
  readonly deadline?: string | undefined;
  readonly key?: KeyInput | undefined;
}

/** Reserves a release. Answers what became of it; AGAIN = the hold is locked or has changed, judge it again. */
export async function reserveRelease(query: Query, release: ReleaseInput): Promise<Stored<'RESERVED'> | typeof AGAIN> {
  const rows = await query<OutcomeRow>(RESERVE_RELEASE, [JSON.stringify([release])]);
  const [row] = rows;
  if (row === undefined || row.outcome === AGAIN) return AGAIN;
  return { outcome: row.outcome, processorRequestId: row.sent_as };
}

interface OutcomeRow {
  readonly outcome: 'RESERVED' | typeof AGAIN | NotStored;
  readonly sent_as: string | null;
}

const RESERVE_RELEASE: Statement = {
  name: 'reserve-release',
  text: `with input as materialized (
    select i.*, coalesce(i.deadline <= clock_timestamp(), false) as late, ${isKnownRequest('i."requestId"')} as known, sent.*
    from json_to_recordset($1::json) as i("requestId" uuid, "holdRequestId" uuid, "merchantId" text,
      reason text, reported boolean, "amountReleased" bigint, "processorReference" text, amount bigint, currency text,
      "createdAt" timestamptz, "inquireAt" timestamptz, version xid, deadline timestamptz, key json, processor text,
      "processorAccount" text, "processorRequestId" uuid, imported boolean)
    ${sentUnderKey('release')}
  ),
  ${LOCK_UNCHANGED_HOLDS},
  admissible as materialized (
    select * from locked where not late and not known and not met
  ),
  ${claimKeys('admissible')},
  changed as (
    update hold h set remaining = h.remaining - i.amount, in_flight = h.in_flight + i.amount, closing = i.reason <> 'LATE'
    from admissible i
    where ${byIndex('h.request_id', 'i."holdRequestId"')}
      and (i.key is null or i."requestId" in (select request_id from claimed))
      and (i.reason = 'LATE' or (not h.closing and h.in_flight = 0 and h.remaining >= i.amount
        and h.status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED')))
    returning i."requestId" as subject_id
  ),
  reserved as (
    insert into release (request_id, hold_request_id, merchant_id, reason, state, amount, currency, created_at,
      inquire_at, inquiry_count, processor, processor_account, processor_request_id, reported, amount_released,
      processor_reference, imported)
    select "requestId", "holdRequestId", "merchantId", reason, 'PENDING', amount, currency, "createdAt", "inquireAt", 0,
      processor, "processorAccount", "sentAs", reported, "amountReleased", "processorReference",
        coalesce(imported, false)
    from admissible where "requestId" in (select subject_id from changed)
    returning request_id
  )
  select ${sentAs('release')}, case
    when i."requestId" in (select request_id from reserved) then 'RESERVED'
    when i.known then 'REPEATED'
    when i.late then 'LATE'
    when i.met or i."requestId" in (select "requestId" from admissible where key is not null) then 'KEY_TAKEN'
    else 'AGAIN' end as outcome
  from input i`,
};
