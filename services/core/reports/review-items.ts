import { NIL } from 'uuid';
import { type Query, sql } from '../storage/database.ts';
import type { Sent } from '../storage/submission/find-sent.ts';

/** A submission without a known outcome, or a frozen hold. */
export interface ReviewRow
  extends Pick<Sent, 'requestId' | 'kind' | 'merchantId' | 'amount' | 'currency' | 'holdRequestId' | 'createdAt'>,
    Pick<Sent, 'processor' | 'processorRequestId'> {
  readonly reason: 'UNKNOWN' | 'NEEDS_REVIEW' | 'FROZEN';
  readonly inquiryCount: number;
  readonly inquireAt: Date | null;
}

/** Which of them to find; absent = any. */
export type ReviewFilter = Partial<Pick<ReviewRow, 'merchantId' | 'reason'>>;

/**
 * Finds what waits for an operator, those after a requestId, oldest first: requestIds are UUIDv7, whatever table they
 * are in. What the processor has accepted is left out before it is late.
 */
export function findReviewItems(
  query: Query,
  { merchantId, reason }: ReviewFilter,
  { after = NIL, limit, now }: { readonly after: string | undefined; readonly limit: number; readonly now: Date },
): Promise<ReviewRow[]> {
  return query<ReviewRow>(FIND_REVIEW_ITEMS, [after, merchantId, reason, limit, now]);
}

/** Each of the two selects repeats the condition of its table's index. */
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
    order by request_id limit $4`;
