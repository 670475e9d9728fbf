import { type Query, sql } from '../storage/database.ts';
import { WAITING_ENDPOINTS } from '../storage/delivery/take-due.ts';
import { RECONCILING_SINCE } from '../storage/reconciling.ts';

/** A measure of waiting work. Ages are in seconds; 0 when nothing waits. */
export interface Sample {
  readonly gauge: BacklogGauge;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Reads the waiting work, for monitoring, each part through its own index. Ages count up to `now`. */
export function readBacklog(query: Query, now: Date): Promise<Sample[]> {
  return query<Sample>(READ_BACKLOG, [now]);
}

/** SQL: how many segments lie before one in the log, whose name is 24 digits. */
const segmentNumber = (name: string) => `(('x' || substr(${name}, 9, 8))::bit(32)::bigint
      * (4294967296 / pg_size_bytes(current_setting('wal_segment_size'))) + ('x' || substr(${name}, 17, 8))::bit(32)::bigint)`;

/**
 * SQL, of pg_stat_archiver: a segment that is complete waits, or the last try failed. The current segment is not complete
 * while it is the next one. Other files (of timelines and backups) are archived, too, and have longer or shorter names.
 */
const IS_ARCHIVING_BEHIND = `(last_failed_time > coalesce(last_archived_time, '-infinity')
        or length(last_archived_wal) = 24
          and ${segmentNumber('pg_walfile_name(pg_current_wal_lsn())')} > ${segmentNumber('last_archived_wal')} + 1)`;

/** SQL: what an endpoint gets, without which of them it is. */
const PURPOSE = `split_part(kind, '-', 1)`;

/** SQL of each gauge: its labels, and its value. */
const GAUGES = {
  unknown_outcomes: 'select labels, unknown from open',
  unknown_outcome_oldest_age_seconds: 'select labels, oldest from open',
  needs_review: 'select labels, review from open',
  holds_frozen: `select json_build_object('processor', processor), count(*) from hold where frozen group by processor`,
  contradictions_open: `select json_build_object('processor', processor, 'kind', kind), count(*) from contradiction
      where resolved_at is null group by processor, kind`,
  deliveries_dead: `select '{}', count(*) from (select from delivery where state = 'DEAD' limit 100000) counted`,
  delivery_oldest_due_age_seconds: `select '{}', coalesce(greatest(extract(epoch from $1 - min(due.due_at)), 0), 0)
      from waiting w
      left join endpoint e on e.merchant_id = w.merchant_id and e.kind = w.endpoint_kind
      cross join lateral (select d.due_at from delivery d
        where d.merchant_id = w.merchant_id and d.endpoint_kind = w.endpoint_kind and d.due_at is not null
        order by d.due_at limit 1) due
      where e.pause is null`,
  endpoints_paused: `select json_build_object('kind', ${PURPOSE}, 'pause', pause), count(*) from endpoint
      where pause is not null group by ${PURPOSE}, pause`,
  endpoints_failing: `select json_build_object('kind', ${PURPOSE}), count(*) from endpoint
      where failure_count + refused_count > 0 group by ${PURPOSE}`,
  /** Of live keys that expire within 14 days. */
  api_keys_expiring: `select '{}', count(*) from api_key where revoked_at is null and expires_at > $1
      and expires_at < $1 + interval '14 days'`,
  quarantined_notifications: `select '{}', count(*) from quarantined_notification where state = 'HELD'`,
  /** Of all our processes. */
  commits_unconfirmed: `select '{}', count(*) from unconfirmed`,
  commit_unconfirmed_oldest_age_seconds: `select '{}',
      coalesce(extract(epoch from clock_timestamp() - min(state_change)), 0) from unconfirmed`,
  synchronous_standby: `select '{}', (current_setting('synchronous_standby_names') <> '')::int`,
  reconciling_age_seconds: `select '{}', coalesce(extract(epoch from clock_timestamp() - ${RECONCILING_SINCE}), 0)`,
  backup_age_seconds: `select '{}', coalesce(extract(epoch from clock_timestamp() - backed_up_at), 'NaN')
      from installation where number = any (array[1])`,
  archive_age_seconds: `select '{}', case when current_setting('archive_mode') = 'off' then 'NaN'
      when ${IS_ARCHIVING_BEHIND} then extract(epoch from clock_timestamp() - coalesce(last_archived_time, stats_reset))
      else 0 end
      from pg_stat_archiver`,
  queue_depth: `select json_build_object('state', state), count(*) from pending group by state`,
};
export type BacklogGauge = keyof typeof GAUGES;

const SAMPLES = Object.entries(GAUGES).map(
  ([gauge, sql]) => `select '${gauge}' as gauge, labels::json, value::float8 from (${sql}) as samples(labels, value)`,
);

/**
 * Counts the first 100 000 waiting deliveries. An accepted request counts as unknown once its time is over, and ages
 * from then.
 */
const READ_BACKLOG = sql('read-backlog')`with recursive ${WAITING_ENDPOINTS},
  sent as (
    select 'HOLD' as kind, phase as state, processor, created_at, expected_by from hold
    where phase in ('UNKNOWN', 'NEEDS_REVIEW')
    union all
    select kind, state, processor, created_at, expected_by from submission where state in ('UNKNOWN', 'NEEDS_REVIEW')
  ),
  open as materialized (
    select json_build_object('kind', kind, 'processor', processor) as labels,
      count(*) filter (where is_trouble) as unknown,
      coalesce(extract(epoch from $1 - min(coalesce(expected_by, created_at)) filter (where is_trouble)), 0) as oldest,
      count(*) filter (where state = 'NEEDS_REVIEW') as review
    from (select *, state = 'UNKNOWN' and not coalesce(expected_by > $1, false) as is_trouble from sent) s
    group by kind, processor
  ),
  unconfirmed as materialized (
    select state_change from pg_stat_activity where datname = current_database() and wait_event = 'SyncRep'
  ),
  pending as (
    select case when locked_until > now() then 'taken' when due_at <= $1 then 'ready' else 'later' end as state
    from delivery where due_at is not null limit 100000
  )
  ${SAMPLES.join('\n  union all ')}`;
