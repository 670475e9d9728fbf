import assert from 'node:assert/strict';
import { type Query, readRow, sql } from './database.ts';
import { TIMELINE } from './reconciling.ts';

/** The state of a database. */
export interface ProbeAnswer {
  /** False = a standby, or read-only. */
  readonly isWritable: boolean;
  /** Commits are confirmed by a synchronous standby. */
  readonly hasStandby: boolean;
  /** Its clock when it answered, milliseconds since the epoch. */
  readonly nowMs: number;
  /** True when the timeline differs from the last one seen. */
  readonly isTimelineNew: boolean;
}

/** Reads whether the database is writable, its time, and whether its timeline is new. */
export async function probe(query: Query): Promise<ProbeAnswer> {
  const answer = await readRow<ProbeAnswer>(query, PROBE, []);
  assert(answer, 'a statement without a table answers one row');
  return answer;
}

const PROBE = sql('probe')`
  select not pg_is_in_recovery() and current_setting('transaction_read_only') = 'off' as is_writable,
    case when pg_is_in_recovery() then false
      else coalesce((select timeline <> ${TIMELINE} from installation where number = any (array[1])), false)
        end as is_timeline_new,
    current_setting('synchronous_standby_names') <> '' as has_standby,
    (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`;
