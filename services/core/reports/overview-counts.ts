import assert from 'node:assert/strict';
import type { Message } from '@bufbuild/protobuf';
import type { GetOverviewResponse, ProcessorOverview } from '../../../proto/gen/holdfast/v1/operator_pb.js';
import { type Query, sql } from '../storage/database.ts';
import { isExpected, ofBothTables } from '../storage/submission/sent-tables.ts';

/** What may need somebody's attention, as the contract tells it; no count goes beyond 10 000. */
export interface OverviewRow
  extends Omit<GetOverviewResponse, keyof Message | 'at' | 'processors' | 'oldestUnknownAt' | 'oldestDueAt'> {
  readonly oldestUnknownAt: Date | null;
  readonly oldestDueAt: Date | null;
  /** Each processor that something open was sent to. */
  readonly processors: readonly ProcessorRow[];
}

/** What is open at one processor. */
export interface ProcessorRow extends Pick<ProcessorOverview, 'processor' | 'unknownCount' | 'needsReviewCount'> {
  readonly oldestUnknownAt: Date | null;
}

/** Counts, each by an index over just what it counts. `expiringBefore` says which holds end soon. */
export async function readOverview(query: Query, now: Date, expiringBefore: Date): Promise<OverviewRow> {
  const [row] = await query<OverviewRow>(READ_OVERVIEW, [now, expiringBefore]);
  assert(row, 'counts are one row');
  const { processors, ...counts } = row;
  return { ...counts, processors: processors.map(processorRow) };
}

/** Within JSON a time is text. */
function processorRow({ oldestUnknownAt, ...row }: ProcessorRow): ProcessorRow {
  return { ...row, oldestUnknownAt: oldestUnknownAt && new Date(oldestUnknownAt) };
}

const MOST = 10_000;

/** What is open, unless it was accepted and is not late. `inReview` repeats the condition of the index. */
const OPEN = ofBothTables(
  (table, { state, stateColumn, inReview }) => `(select ${state} as state, s.created_at, s.processor from ${table} s
      where ${inReview} and s.${stateColumn} in ('UNKNOWN', 'NEEDS_REVIEW')
        and not (${state} = 'UNKNOWN' and ${isExpected('$1')}) order by s.request_id limit ${MOST})`,
);

const counted = (what: string) => `(select count(*)::int from (select ${what} limit ${MOST}) as counted)`;

const READ_OVERVIEW = sql('read-overview')`with open as materialized (${OPEN}),
    due as materialized (select due_at from delivery where due_at is not null and due_at <= $1 limit ${MOST})
    select
      ${counted(`from hold where status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') and phase = 'AUTHORIZED'
        and expires_at < $2 and remaining > 0`)} as expiring_hold_count,
      (select least(count(*), ${MOST})::int from open where state = 'UNKNOWN') as unknown_count,
      (select min(created_at) from open where state = 'UNKNOWN') as oldest_unknown_at,
      (select least(count(*), ${MOST})::int from open where state = 'NEEDS_REVIEW') as needs_review_count,
      ${counted('from hold where frozen')} as frozen_hold_count,
      ${counted(`from quarantined_notification where state = 'HELD'`)} as quarantined_count,
      ${counted(`from delivery where state = 'DEAD'`)} as dead_delivery_count,
      (select count(*)::int from due) as due_delivery_count,
      (select min(due_at) from due) as oldest_due_at,
      ${counted('from endpoint where pause is not null')} as paused_endpoint_count,
      (select coalesce(json_agg(json_build_object('processor', processor, 'unknownCount', unknown,
          'oldestUnknownAt', oldest, 'needsReviewCount', review) order by processor), '[]')
        from (select processor, least(count(*) filter (where state = 'UNKNOWN'), ${MOST})::int as unknown,
            min(created_at) filter (where state = 'UNKNOWN') as oldest,
            least(count(*) filter (where state = 'NEEDS_REVIEW'), ${MOST})::int as review
          from open group by processor) at_processor) as processors`;
