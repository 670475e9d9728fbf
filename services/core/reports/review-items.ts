import { NIL } from 'uuid';
import type { SentKind } from '../domain/kinds.ts';
import { camelCased } from '../storage/camel-cased.ts';
import type { Query, Statement } from '../storage/database.ts';
import { isExpected, ofBothTables } from '../storage/submission/sent-tables.ts';

/** A submission without a known outcome, or a frozen hold. */
export interface ReviewRow {
  readonly requestId: string;
  readonly reason: 'UNKNOWN' | 'NEEDS_REVIEW' | 'FROZEN';
  readonly kind: SentKind;
  readonly merchantId: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly holdRequestId: string | null;
  readonly createdAt: Date;
  readonly inquiryCount: number;
  readonly inquireAt: Date | null;
  readonly processor: string;
  /** Its identifier there; null = the requestId. */
  readonly processorRequestId: string | null;
}

/** Which of them to find: those after a requestId, oldest first. Null = any. */
export interface ReviewFilter {
  readonly after: string | null;
  readonly merchantId: string | null;
  readonly reason: ReviewRow['reason'] | null;
  readonly limit: number;
  /** What the processor has accepted is left out before it is late. */
  readonly now: Date;
}

/** Finds what waits for an operator, oldest first: requestIds are UUIDv7, whatever table they are in. */
export async function findReviewItems(query: Query, filter: ReviewFilter): Promise<ReviewRow[]> {
  const { after, merchantId, reason, limit, now } = filter;
  const rows = await query<object>(FIND_REVIEW_ITEMS, [after ?? NIL, merchantId, reason, limit, now]);
  return rows.map((row) => camelCased<ReviewRow>(row));
}

const FIND_REVIEW_ITEMS: Statement = {
  name: 'find-review-items',
  text: `${ofBothTables(
    (table, sql) => `(select s.request_id, ${sql.reviewReason} as reason, ${sql.kind} as kind, s.merchant_id, s.amount,
      s.currency, ${sql.holdRequestId} as hold_request_id, s.created_at, s.inquiry_count, s.inquire_at, s.processor,
      s.processor_request_id
    from ${table} s
    where ${sql.inReview} and s.request_id > $1 and ($2::text is null or s.merchant_id = $2)
      and ($3::text is null or ${sql.reviewReason} = $3) and not (${sql.reviewReason} = 'UNKNOWN' and ${isExpected('$5')})
    order by s.request_id limit $4)`,
  )}
    order by request_id limit $4`,
};
