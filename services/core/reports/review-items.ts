import { NIL } from 'uuid';
import { type ContradictionRow, findOpenAbout } from '../storage/contradiction/read-contradictions.ts';
import { type Query, sql } from '../storage/database.ts';
import type { Sent } from '../storage/submission/find-sent.ts';

/**
 * A submission without a known outcome, a frozen hold, or something else that its processor contradicted. Of an
 * identifier that nothing here has, only what the processor said is known.
 */
export interface ReviewRow extends Pick<Sent, 'requestId' | 'holdRequestId' | 'createdAt'>, Partial<Known> {
  readonly reason: 'UNKNOWN' | 'NEEDS_REVIEW' | 'FROZEN' | 'CONTRADICTED';
  readonly processor: string;
  readonly inquiryCount: number;
  readonly inquireAt: Date | null;
}

type Known = Pick<Sent, 'kind' | 'merchantId' | 'amount' | 'currency' | 'processorRequestId'>;

/** A review item with its open contradictions, newest first; at most 10. */
export interface ReviewItem extends ReviewRow {
  readonly contradictions: readonly ContradictionRow[];
}

/** Selects review items; absent = any. */
export type ReviewFilter = Partial<Pick<ReviewRow, 'merchantId' | 'reason'>>;

/**
 * Finds the items that wait for an operator, those after a requestId, oldest first: requestIds are UUIDv7 in all
 * tables. Accepted operations are left out until they are late.
 */
export async function findReviewItems(
  query: Query,
  { merchantId, reason }: ReviewFilter,
  { after = NIL, limit, now }: { readonly after: string | undefined; readonly limit: number; readonly now: Date },
): Promise<ReviewItem[]> {
  const rows = await query<ReviewRow>(FIND_REVIEW_ITEMS, [after, merchantId, reason, limit, now]);
  const open = await findOpenAbout(
    query,
    rows.map(({ requestId }) => requestId),
  );
  return rows.map((row) => {
    return { ...row, contradictions: open.filter(({ about }) => about === row.requestId).slice(0, MOST_SHOWN) };
  });
}

/** Greatest number in one item, by the contract. */
const MOST_SHOWN = 10;

/** Each of the first two selects repeats the condition of its table's index. */
const FIND_REVIEW_ITEMS = sql('find-review-items')`
    (select request_id, case when phase in ('UNKNOWN', 'NEEDS_REVIEW') then phase else 'FROZEN' end as reason,
      'HOLD' as kind, merchant_id, amount, currency, null::uuid as hold_request_id, created_at, inquiry_count,
      inquire_at, processor, processor_request_id
    from hold
    where (frozen or phase in ('UNKNOWN', 'NEEDS_REVIEW')) and request_id > $1
      and ($2::text is null or merchant_id = $2)
      and ($3::text is null or case when phase in ('UNKNOWN', 'NEEDS_REVIEW') then phase else 'FROZEN' end = $3)
      and not (phase = 'UNKNOWN' and coalesce(expected_by > $5, false))
    order by request_id limit $4)
    union all
    (select request_id, state, kind, merchant_id, amount, currency, hold_request_id, created_at, inquiry_count,
      inquire_at, processor, processor_request_id
    from submission
    where state in ('UNKNOWN', 'NEEDS_REVIEW') and request_id > $1 and ($2::text is null or merchant_id = $2)
      and ($3::text is null or state = $3) and not (state = 'UNKNOWN' and coalesce(expected_by > $5, false))
    order by request_id limit $4)
    union all
    (select o.request_id, 'CONTRADICTED', s.kind, coalesce(s.merchant_id, o.merchant_id), s.amount, s.currency,
      o.hold_request_id, coalesce(s.created_at, o.at), 0, null, o.processor, s.processor_request_id
    from (select distinct on (request_id) * from contradiction
        where resolved_at is null and request_id > $1 order by request_id, at) o
      left join hold h on h.request_id = o.hold_request_id
      left join lateral (
        select 'HOLD' as kind, h.merchant_id, h.amount, h.currency, h.created_at, h.processor_request_id, h.phase as state
        where h.request_id = o.request_id
        union all
        select kind, merchant_id, amount, currency, created_at, processor_request_id, state from submission
        where request_id = o.request_id) s on true
    where not coalesce(h.frozen, false) and coalesce(s.state, '') not in ('UNKNOWN', 'NEEDS_REVIEW')
      and ($2::text is null or o.merchant_id = $2) and ($3::text is null or $3 = 'CONTRADICTED')
    order by o.request_id limit $4)
    order by request_id limit $4`;
