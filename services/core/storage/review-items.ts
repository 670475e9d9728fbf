import { NIL } from 'uuid';
import type { AttemptTable } from './attempts.ts';
import { camelCased } from './camel-cased.ts';
import type { Query, Statement } from './database.ts';

/** An attempt without a known outcome, or a frozen hold. */
export interface ReviewRow {
  readonly requestId: string;
  readonly reason: 'UNKNOWN' | 'NEEDS_REVIEW' | 'FROZEN';
  readonly kind: 'HOLD' | 'CAPTURE' | 'RELEASE' | 'EXPIRY' | 'OCT';
  readonly merchantId: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly holdRequestId: string | null;
  readonly createdAt: Date;
  readonly inquiryCount: number;
  readonly inquireAt: Date | null;
  readonly lateVoid: boolean;
}

/** Which of them to find: those after a requestId, oldest first. Null = any. */
export interface ReviewFilter {
  readonly after: string | null;
  readonly merchantId: string | null;
  readonly reason: ReviewRow['reason'] | null;
  readonly limit: number;
}

/** Finds what waits for an operator, oldest first: requestIds are UUIDv7, whatever table they are in. */
export async function findReviewItems(query: Query, filter: ReviewFilter): Promise<ReviewRow[]> {
  const { after, merchantId, reason, limit } = filter;
  const rows = await query<object>(FIND_REVIEW_ITEMS, [after ?? NIL, merchantId, reason, limit]);
  return rows.map((row) => camelCased<ReviewRow>(row));
}

/** The condition of each table's index over what is open; a query that is to use the index repeats it. */
export const IN_REVIEW: Readonly<Record<AttemptTable, string>> = {
  hold: `(frozen or phase in ('UNKNOWN', 'NEEDS_REVIEW'))`,
  capture: `state in ('UNKNOWN', 'NEEDS_REVIEW')`,
  release: `state in ('UNKNOWN', 'NEEDS_REVIEW')`,
  oct: `state in ('UNKNOWN', 'NEEDS_REVIEW')`,
};

const HOLD_REASON = `case when phase in ('UNKNOWN', 'NEEDS_REVIEW') then phase else 'FROZEN' end`;

interface Columns {
  readonly reason: string;
  readonly kind: string;
  readonly holdRequestId: string;
  readonly lateVoid: string;
}

const COLUMNS: Readonly<Record<AttemptTable, Columns>> = {
  hold: { reason: HOLD_REASON, kind: `'HOLD'`, holdRequestId: 'null::uuid', lateVoid: 'false' },
  capture: { reason: 'state', kind: `'CAPTURE'`, holdRequestId: 'hold_request_id', lateVoid: 'false' },
  release: {
    reason: 'state',
    kind: `case reason when 'EXPIRED' then 'EXPIRY' else 'RELEASE' end`,
    holdRequestId: 'hold_request_id',
    lateVoid: `reason = 'LATE'`,
  },
  oct: { reason: 'state', kind: `'OCT'`, holdRequestId: 'null::uuid', lateVoid: 'false' },
};

const part = (table: AttemptTable) => {
  const { reason, kind, holdRequestId, lateVoid } = COLUMNS[table];
  return `(select request_id, ${reason} as reason, ${kind} as kind, merchant_id, amount, currency,
      ${holdRequestId} as hold_request_id, created_at, inquiry_count, inquire_at, ${lateVoid} as late_void
    from ${table}
    where ${IN_REVIEW[table]} and request_id > $1 and ($2::text is null or merchant_id = $2)
      and ($3::text is null or ${reason} = $3)
    order by request_id limit $4)`;
};

const FIND_REVIEW_ITEMS: Statement = {
  name: 'find-review-items',
  text: `${part('hold')} union all ${part('capture')} union all ${part('release')} union all ${part('oct')}
    order by request_id limit $4`,
};
