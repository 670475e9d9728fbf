import type { Query, Statement } from '../storage/database.ts';
import { WAITING_ENDPOINTS } from '../storage/delivery/take-due.ts';
import { RECONCILING_SINCE } from '../storage/reconciling.ts';
import { isExpected, ofBothTables } from '../storage/submission/sent-tables.ts';

/** What waits, for monitoring. Ages in seconds; 0 when nothing waits. */
export interface Backlog {
  readonly open: readonly {
    readonly kind: string;
    readonly processor: string;
    readonly unknown: number;
    readonly oldestS: number;
    readonly review: number;
  }[];
  readonly frozenHolds: readonly { readonly processor: string; readonly count: number }[];
  readonly deadDeliveries: number;
  /** Of endpoints that are not paused. */
  readonly oldestDueS: number;
  readonly paused: readonly { readonly kind: string; readonly pause: string; readonly count: number }[];
  readonly quarantined: number;
  /** Commits that wait for the synchronous standby, of all our processes. */
  readonly unconfirmed: { readonly count: number; readonly oldestS: number };
  /** For how long the database has been reconciled with the processors. */
  readonly reconcilingS: number;
  /** Deliveries that wait, of the first 100 000. */
  readonly queue: { readonly ready: number; readonly later: number; readonly taken: number };
}

/** Reads the backlog, each part through an index of its own. `now` is compared with the database's rows. */
export async function readBacklog(query: Query, now: Date): Promise<Backlog> {
  const [row] = await query<{ backlog: Backlog }>(READ_BACKLOG, [now]);
  if (!row) throw new Error('a statement without a table answers one row');
  return row.backlog;
}

/** An accepted request is unknown like any other once its time is over, and its age counts from then. */
const isTrouble = (stateColumn: string) => `s.${stateColumn} = 'UNKNOWN' and not ${isExpected('$1')}`;

const OPEN = ofBothTables(
  (table, { kind, stateColumn }) => `select json_build_object('kind', s.sent_kind, 'processor', s.processor,
      'unknown', count(*) filter (where ${isTrouble(stateColumn)}),
      'oldestS', coalesce(extract(epoch from $1 - min(coalesce(s.expected_by, s.created_at))
        filter (where ${isTrouble(stateColumn)})), 0),
      'review', count(*) filter (where s.${stateColumn} = 'NEEDS_REVIEW')) as line
    from (select s.*, ${kind} as sent_kind from ${table} s where s.${stateColumn} in ('UNKNOWN', 'NEEDS_REVIEW')) s
    group by s.sent_kind, s.processor`,
);

const READ_BACKLOG: Statement = {
  name: 'read-backlog',
  text: `with recursive ${WAITING_ENDPOINTS}
  select json_build_object(
    'open', (select coalesce(json_agg(line), '[]') from (${OPEN}) lines),
    'frozenHolds', (select coalesce(json_agg(json_build_object('processor', processor, 'count', count)), '[]')
      from (select processor, count(*) from hold where frozen group by 1) counted),
    'deadDeliveries', (select count(*) from (select from delivery where state = 'DEAD' limit 100000) counted),
    'oldestDueS', (select coalesce(greatest(extract(epoch from $1 - min(due.due_at)), 0), 0)
      from waiting w
      left join endpoint e on e.merchant_id = w.merchant_id and e.kind = w.endpoint_kind
      cross join lateral (select d.due_at from delivery d
        where d.merchant_id = w.merchant_id and d.endpoint_kind = w.endpoint_kind and d.due_at is not null
        order by d.due_at limit 1) due
      where e.pause is null),
    'paused', (select coalesce(json_agg(json_build_object('kind', kind, 'pause', pause, 'count', count)), '[]')
      from (select kind, pause, count(*) from endpoint where pause is not null group by kind, pause) counted),
    'quarantined', (select count(*) from quarantined_notification where state = 'HELD'),
    'unconfirmed', (select json_build_object('count', count(*),
        'oldestS', coalesce(extract(epoch from clock_timestamp() - min(state_change)), 0))
      from pg_stat_activity where datname = current_database() and wait_event = 'SyncRep'),
    'reconcilingS', coalesce(extract(epoch from clock_timestamp() - ${RECONCILING_SINCE}), 0),
    'queue', (select json_build_object('ready', count(*) filter (where due_at <= $1 and not taken),
        'later', count(*) filter (where due_at > $1 and not taken), 'taken', count(*) filter (where taken))
      from (select due_at, coalesce(locked_until > now(), false) as taken from delivery
        where due_at is not null limit 100000) pending)
  ) as backlog`,
};
