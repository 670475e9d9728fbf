import assert from 'node:assert/strict';
import type { Message } from '@bufbuild/protobuf';
import type { GetOverviewResponse, ProcessorOverview } from '../../../proto/gen/holdfast/v1/operator_pb.js';
import { type Query, sql } from '../storage/database.ts';
import { RECONCILING_SINCE } from '../storage/reconciling.ts';

/** Counts that may need attention, in the contract's form, each at most 10 000. */
export interface OverviewRow
  extends Omit<
    GetOverviewResponse,
    keyof Message | 'at' | 'processors' | 'oldestUnknownAt' | 'oldestDueAt' | 'reconcilingSince'
  > {
  readonly oldestUnknownAt: Date | null;
  readonly oldestDueAt: Date | null;
  readonly reconcilingSince: Date | null;
  /** Each processor that something open was sent to. */
  readonly processors: readonly ProcessorRow[];
}

/** Open operations at one processor. */
export interface ProcessorRow extends Pick<ProcessorOverview, 'processor' | 'unknownCount' | 'needsReviewCount'> {
  readonly oldestUnknownAt: Date | null;
}

/** Counts, each by an index over just what it counts. `expiringBefore` says which holds end soon. */
export async function readOverview(query: Query, now: Date, expiringBefore: Date): Promise<OverviewRow> {
  const [row] = await query<OverviewRow>(READ_OVERVIEW, [now, expiringBefore]);
  assert(row, 'counts are one row');
  // Within JSON a time is text.
  const processors = row.processors.map(({ oldestUnknownAt, ...counts }) => {
    return { ...counts, oldestUnknownAt: oldestUnknownAt && new Date(oldestUnknownAt) };
  });
  return { ...row, processors };
}

const MOST = 10_000;

/** Accepted operations that are not late do not count as open. The selects repeat the conditions of the indexes. */
const READ_OVERVIEW = sql('read-overview')`with open as materialized (
      (select phase as state, created_at, processor from hold
        where (frozen or phase in ('UNKNOWN', 'NEEDS_REVIEW')) and phase in ('UNKNOWN', 'NEEDS_REVIEW')
          and not (phase = 'UNKNOWN' and coalesce(expected_by > $1, false)) order by request_id limit ${MOST})
      union all
      (select state, created_at, processor from submission
        where state in ('UNKNOWN', 'NEEDS_REVIEW') and not (state = 'UNKNOWN' and coalesce(expected_by > $1, false))
        order by request_id limit ${MOST})
    ),
    due as materialized (select due_at from delivery where due_at is not null and due_at <= $1 limit ${MOST})
    select
      (select count(*)::int from (select from hold where status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED')
        and phase = 'AUTHORIZED' and (expires_at < $2 or release_at < $2) and remaining > 0 limit ${MOST}) h)
        as expiring_hold_count,
      (select least(count(*), ${MOST})::int from open where state = 'UNKNOWN') as unknown_count,
      (select min(created_at) from open where state = 'UNKNOWN') as oldest_unknown_at,
      (select least(count(*), ${MOST})::int from open where state = 'NEEDS_REVIEW') as needs_review_count,
      (select count(*)::int from (select from hold where frozen limit ${MOST}) h) as frozen_hold_count,
      (select count(*)::int from (select from contradiction where resolved_at is null limit ${MOST}) c)
        as open_contradiction_count,
      (select count(*)::int from (select from quarantined_notification where state = 'HELD' limit ${MOST}) q)
        as quarantined_count,
      (select count(*)::int from (select from delivery where state = 'DEAD' limit ${MOST}) d) as dead_delivery_count,
      (select count(*)::int from due) as due_delivery_count,
      (select min(due_at) from due) as oldest_due_at,
      (select count(*)::int from (select from endpoint where pause is not null limit ${MOST}) e)
        as paused_endpoint_count,
      (select count(*)::int from (select from endpoint where failure_count + refused_count > 0 limit ${MOST}) e)
        as failing_endpoint_count,
      ${RECONCILING_SINCE} as reconciling_since,
      (select coalesce(json_agg(json_build_object('processor', processor, 'unknownCount', unknown,
          'oldestUnknownAt', oldest, 'needsReviewCount', review) order by processor), '[]')
        from (select processor, least(count(*) filter (where state = 'UNKNOWN'), ${MOST})::int as unknown,
            min(created_at) filter (where state = 'UNKNOWN') as oldest,
            least(count(*) filter (where state = 'NEEDS_REVIEW'), ${MOST})::int as review
          from open group by processor) at_processor) as processors`;
