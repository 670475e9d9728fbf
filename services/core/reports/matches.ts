import { MAX } from 'uuid';
import type { OperationKind } from '../domain/kinds.ts';
import { type Query, sql } from '../storage/database.ts';
import { idBounds } from '../storage/id-bounds.ts';
import type { Sent } from '../storage/submission/find-sent.ts';

/** The field by which an operation was found. */
export type MatchedBy = 'ID' | 'MERCHANT_REFERENCE' | 'PREAUTHORIZATION_ID' | 'PROCESSOR_REFERENCE' | 'LAST4';

/** An operation, with or without a result, that a search found. */
export interface MatchRow
  extends Pick<Sent, 'requestId' | 'state' | 'merchantId' | 'amount' | 'currency' | 'holdRequestId' | 'createdAt'> {
  readonly kind: OperationKind;
  readonly merchantReference: string | null;
  readonly matchedBy: MatchedBy;
}

/** The values to search for; null = any. */
export interface MatchFilter {
  /** Any part of the merchant's reference, or a whole reference of the processor or the bank. */
  readonly text: string;
  /** Last characters of a requestId, in lower case. */
  readonly idEnd: string | null;
  readonly last4: string | null;
  readonly merchantId: string | null;
  readonly createdFrom: Date | null;
  readonly createdTo: Date | null;
  /** Only requestIds below, exclusive. */
  readonly before: string | null;
  readonly limit: number;
}

/** Finds a hold by the hash of its preauthorizationId, or an operation by requestId or identifier at a processor. */
export function findExactMatches(
  query: Query,
  { requestId, idHash }: { readonly requestId: string | null; readonly idHash: Buffer | null },
): Promise<MatchRow[]> {
  return query<MatchRow>(FIND_EXACT, [requestId, idHash]);
}

/**
 * Searches the newest rows of each table, newest first. No index has the end of an identifier or a part of a reference,
 * and one on each of them would slow every hold down: so a search reads a bounded number of rows, and the next page
 * goes on below them.
 */
export async function findMatches(query: Query, filter: MatchFilter, searchedRows = SEARCHED_ROWS) {
  const { text, idEnd, last4, merchantId, createdFrom, createdTo, limit } = filter;
  const { lowest: bottom, highest } = idBounds(createdFrom ?? undefined, createdTo ?? undefined);
  const top = [filter.before ?? MAX, highest].sort()[0] as string;
  const [window] = await query<{ floor: string | null }>(FIND_FLOOR, [bottom, top, searchedRows]);
  const floor = window?.floor ?? null;
  const range = [floor ?? bottom, top, merchantId, createdFrom, createdTo];
  const rows = await query<MatchRow>(SEARCH, [...range, text.toLowerCase(), text, idEnd, last4, limit]);
  const isCut = rows.length === limit;
  return { rows, scannedTo: (isCut ? rows.at(-1)?.requestId : floor) ?? undefined };
}

/** Rows of each table that one page searches: tens of milliseconds. */
const SEARCHED_ROWS = 50_000;

/** All operations as columns of the same names; reversals and reinstatements are only in the log of results. */
const OPERATIONS = `select request_id, 'HOLD' as kind, case phase when 'AUTHORIZED' then 'OK' when 'FAILED' then 'KO'
        when 'UNKNOWN' then 'UNKNOWN' when 'NEEDS_REVIEW' then 'NEEDS_REVIEW' else 'PENDING' end as state, merchant_id,
      amount, currency, null::uuid as hold_request_id, merchant_reference, created_at, processor_reference,
      null::text as bank_reference, card_last4 as last4
    from hold
    union all
    select request_id, kind, state, merchant_id, amount, currency, hold_request_id, merchant_reference, created_at,
      processor_reference, bank_reference, card_last4
    from submission where kind <> 'LATE_VOID'
    union all
    select request_id, kind, status, merchant_id, amount, currency, hold_request_id, merchant_reference,
      final_state_date, processor_reference, bank_reference, null
    from operation where kind in ('REVERSAL', 'REINSTATEMENT')`;

const ANSWER =
  'request_id, kind, state, merchant_id, amount, currency, hold_request_id, merchant_reference, created_at';

const FIND_EXACT = sql('find-exact-matches')`
    select ${ANSWER}, case when $2::bytea is null then 'ID' else 'PREAUTHORIZATION_ID' end as matched_by
    from (${OPERATIONS}) m
    where request_id = coalesce(
      (select request_id from hold where processor_request_id = $1
        union all select request_id from submission where processor_request_id = $1 limit 1),
      $1::uuid, (select request_id from hold where id_hash = $2))`;

/** The start of the window that has at most $3 rows of any table; null = it has all. */
const FIND_FLOOR = sql('find-matches-floor')`select max(request_id::text)::uuid as floor from (
    (select request_id from hold where request_id >= $1 and request_id < $2
      order by request_id desc offset $3 limit 1)
    union all
    (select request_id from submission where request_id >= $1 and request_id < $2
      order by request_id desc offset $3 limit 1)) f`;

const SEARCH = sql('search-matches')`select * from (
    select ${ANSWER}, case
        when right(request_id::text, length($8::text)) = $8 then 'ID'
        when position($6::text in lower(merchant_reference)) > 0 then 'MERCHANT_REFERENCE'
        when $7::text in (processor_reference, bank_reference) then 'PROCESSOR_REFERENCE'
        when last4 = $9::text then 'LAST4' end as matched_by
    from (${OPERATIONS}) m
    where request_id >= $1 and request_id < $2 and ($3::text is null or merchant_id = $3)
      and ($4::timestamptz is null or created_at >= $4) and ($5::timestamptz is null or created_at < $5)) found
  where matched_by is not null order by request_id desc limit $10`;
