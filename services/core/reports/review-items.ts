import { NIL } from 'uuid';
import { type Query, sql } from '../storage/database.ts';
import type { Sent } from '../storage/submission/find-sent.ts';
import { isExpected, ofBothTables } from '../storage/submission/sent-tables.ts';

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

const FIND_REVIEW_ITEMS = sql('find-review-items')`${ofBothTables(
  (table, { reviewReason, kind, holdRequestId, inReview }) => `(select s.request_id, ${reviewReason} as reason,
      ${kind} as kind, s.merchant_id, s.amount, s.currency, ${holdRequestId} as hold_request_id, s.created_at,
      s.inquiry_count, s.inquire_at, s.processor, s.processor_request_id
    from ${table} s
    where ${inReview} and s.request_id > $1 and ($2::text is null or s.merchant_id = $2)
      and ($3::text is null or ${reviewReason} = $3) and not (${reviewReason} = 'UNKNOWN' and ${isExpected('$5')})
    order by s.request_id limit $4)`,
)}
    order by request_id limit $4`;
