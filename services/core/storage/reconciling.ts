import { audited } from './audit-log/audit-log.ts';
import { ADVISORY_LOCKS, COMPLETE_STANDBY, type Database, type Query, sql } from './database.ts';

/** SQL: the timeline; PostgreSQL begins a new one with each promotion and each restore to a point in time. */
export const TIMELINE = 'left(pg_walfile_name(pg_current_wal_lsn()), 8)';

/**
 * SQL: since when the database is being reconciled with the processors after it went back in time; null = it is not. A
 * timeline that no process has noticed yet counts as it will when one does (`noticeTimeline`), so a statement that asks is
 * never ahead of the notice.
 */
export const RECONCILING_SINCE = `(select coalesce(reconciling_since,
    case when timeline <> ${TIMELINE} and current_setting('${COMPLETE_STANDBY}', true) is distinct from 'true'
      then clock_timestamp() end)
      from installation where number = any (array[1]))`;

/** SQL of a condition, for searches whose finds must wait until the books are complete again. */
export const IS_NOT_RECONCILING = `${RECONCILING_SINCE} is null`;

/** SQL: requestIds below were drawn before RECONCILING_SINCE: their operations may be lost; null = none may be. */
export const LOST_BELOW = `(lpad(to_hex((extract(epoch from ${RECONCILING_SINCE}) * 1000)::bigint), 12, '0')
  || repeat('0', 20))::uuid`;

/** Returns since when the database is being reconciled; undefined = it is not. */
export async function reconcilingSince(query: Query): Promise<Date | undefined> {
  const [row] = await query<{ since: Date | null }>(sql('reconciling-since')`select ${RECONCILING_SINCE} as since`, []);
  return row?.since ?? undefined;
}

/** Returns the time to which the database went back, or one before it; undefined = not known. */
export async function wentBackTo(query: Query): Promise<Date | undefined> {
  const [row] = await query<{ to: Date | null }>(sql('went-back-to')`select went_back_to as to from installation`, []);
  return row?.to ?? undefined;
}

/**
 * SQL: the time of the last replayed transaction. PostgreSQL forgets it at a restart; then the newest result, which is
 * older. The first time seen stays, because later results are new ones.
 */
const WENT_BACK_TO = `least(went_back_to, coalesce(pg_last_xact_replay_timestamp(),
      (select final_state_date from operation order by sequence desc limit 1)))`;

/** Returns the name of the database's timeline. */
export async function readTimeline(query: Query): Promise<string> {
  const [row] = await query<{ timeline: string }>(sql('read-timeline')`select ${TIMELINE} as timeline`, []);
  return row?.timeline ?? '';
}

/** SQL: has recovery inquire about all open checkouts at once: the event of their end may be lost. */
const LOOK_AT_CHECKOUTS = `update hold set inquire_at = created_at where phase = 'AWAITING_CHECKOUT'`;

/**
 * Stores the database's timeline when it is a new one. Then results may be lost, and reconciling begins, unless
 * `isComplete`: the standby that took over had everything. Returns whether the timeline was new.
 */
export async function noticeTimeline(query: Query, isComplete: boolean): Promise<boolean> {
  return (await query(NOTICE, [isComplete])).length > 0;
}

const NOTICE = sql('notice-timeline')`with noticed as (
    update installation set timeline = ${TIMELINE},
      reconciling_since = case when $1::boolean then reconciling_since else clock_timestamp() end,
      went_back_to = case when $1 then went_back_to else ${WENT_BACK_TO} end
    where timeline <> ${TIMELINE} returning number
  ),
  looked_at as (${LOOK_AT_CHECKOUTS} and not $1 and exists (select from noticed))
  select number from noticed`;

/** Begins reconciling, or begins it again. */
export async function beginReconciling(query: Query): Promise<void> {
  await query(BEGIN, []);
}

const BEGIN = sql('begin-reconciling')`with looked_at as (${LOOK_AT_CHECKOUTS})
    update installation set timeline = ${TIMELINE}, reconciling_since = clock_timestamp(),
      went_back_to = ${WENT_BACK_TO}`;

/** A hold that does something by itself once reconciling has ended, as its merchant had asked before. */
export interface Waiting {
  readonly requestId: string;
  readonly merchantId: string;
  readonly captureAt: Date | null;
  readonly releaseAt: Date | null;
  /** The hold that is released because this one renews it. */
  readonly renewedRequestId: string | null;
}

/**
 * Returns the open holds from before the restore that will be captured, released or renewed automatically, the earliest
 * first. Merchants may have changed them in the lost time.
 */
export function readWaiting(query: Query): Promise<Waiting[]> {
  return query<Waiting>(WAITING, []);
}

const WAITING = sql('read-waiting')`select request_id, merchant_id, capture_at, release_at,
      case when releases_old then renews end as renewed_request_id
    from hold where phase = 'AUTHORIZED' and status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED')
      and (capture_at is not null or release_at is not null or releases_old) and request_id < ${LOST_BELOW}
    order by least(capture_at, release_at), request_id`;

/** Ends the reconciling that began at `since`. Returns false when it was begun again meanwhile. Audited. */
export function endReconciling(database: Database, since: Date, at: Date): Promise<boolean> {
  return audited(database, { at, action: 'database.reconciled', target: 'database' }, async (query) => {
    return (await query(END, [since])).length > 0;
  });
}

const END = sql('end-reconciling')`update installation set reconciling_since = null, went_back_to = null
    where reconciling_since = $1 and timeline = ${TIMELINE} returning number`;

/**
 * Moves the sequences of results, of accepted notifications and of changes of credentials so far ahead that no number is given again that was
 * given after the time to which the database was restored, and begins reconciling. Returns where they stand. Audited.
 */
export function moveSequencesAhead(database: Database, at: Date) {
  const action = { at, action: 'database.restored', target: 'database' };
  return audited(database, action, async (query) => {
    await query(LOCK, []);
    const [moved] = await query<{ operation: bigint; change: bigint }>(MOVE, []);
    if (!moved) throw new Error('a sequence has a value');
    await beginReconciling(query);
    return moved;
  });
}

/** Thirty years of a thousand results a second; a sequence has room for nine million such steps. */
const STEP = 1_000_000_000_000n;

/** Makes others wait who draw a number meanwhile: numbers must be committed in order. */
const LOCK = sql('lock-sequences')`select pg_advisory_xact_lock(${ADVISORY_LOCKS.operationOrder}),
      pg_advisory_xact_lock(${ADVISORY_LOCKS.merchantChanges})`;

const MOVE = sql('move-sequences-ahead')`select
      setval('operation_sequence_seq', (select last_value from operation_sequence_seq) + ${STEP}) as operation,
      setval('notification_sequence_seq', (select last_value from notification_sequence_seq) + ${STEP}) as relayed,
      setval('merchant_change', (select last_value from merchant_change) + ${STEP}) as change`;
