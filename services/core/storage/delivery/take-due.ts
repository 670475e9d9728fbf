import { byIndex } from '../by-index.ts';
import { type Query, sql } from '../database.ts';
import type { EndpointKey } from '../endpoint/endpoint-row.ts';
import { DEFAULT_TIMEOUT_S, TERMS, type TermsJson } from '../endpoint/endpoint-terms.ts';
import type { DeliveryRow } from './delivery-row.ts';

/** A delivery as an attempt needs it. */
export type PendingDelivery = Pick<
  DeliveryRow,
  'id' | 'merchantId' | 'endpointId' | 'requestId' | 'kind' | 'statusInfo' | 'attemptCount' | 'retryBase'
> & {
  readonly body: Buffer;
  readonly dueAt: Date;
  readonly signature: string | null;
  readonly traceParent: string | null;
  readonly relayedHeaders: Readonly<Record<string, string>> | null;
  /** In the first row of each merchant: its terms; null in others, and when there is no such merchant. */
  readonly terms: TermsJson | null;
};

/** An endpoint whose due deliveries a worker wants. */
export interface Wanted extends EndpointKey {
  /** Maximum of attempts in progress at the endpoint, over all workers. */
  readonly cap: number;
  /** Greatest number to take. */
  readonly room: number;
}

/**
 * Takes deliveries that are due for this worker alone, the longest due first: nobody else gets them before they are
 * recorded, released, or the time of an attempt and 5 s are over, which means that the worker has died. Nothing is
 * taken for an endpoint that is paused, except one delivery as a probe when the breaker's pause is over.
 */
export function takeDue(query: Query, wanted: readonly Wanted[], now: Date): Promise<PendingDelivery[]> {
  return query(TAKE_DUE, [JSON.stringify(wanted.map((each) => ({ ...each, now })))]);
}

/** Gives back deliveries whose attempt was not made. */
export async function releaseTaken(query: Query, ids: readonly string[]): Promise<void> {
  await query(RELEASE_TAKEN, [ids]);
}

/** Finds the endpoints that have due deliveries and are not paused. */
export function findWaiting(query: Query, now: Date): Promise<EndpointKey[]> {
  return query(FIND_WAITING, [now]);
}

/** The database's clock, because several workers compare it. */
const FREE = `(locked_until is null or locked_until <= now())`;

/**
 * First attempts are due at once, by the clock of the core that created them, which is within a second of ours; later
 * ones wait.
 *
 * The cap holds over all workers: only the first `cap` due deliveries of an endpoint are considered, and those in
 * progress are among them. All workers must see the same order, so it ends with the id. A delivery whose attempt was
 * recorded after the snapshot has another attempt_count, and is skipped. A lock that is lost with the server costs only
 * a second attempt, so its commit does not wait for the disk.
 *
 * The terms belong to the snapshot that shows the deliveries, so an address or a secret that was changed before a
 * delivery was created is in force for it.
 *
 * The planner knows no value of the input, so it keeps its first plan instead of making one each time, which took a
 * third of the statement.
 */
const TAKE_DUE = sql('take-due-deliveries')`with wanted as (
    select w."merchantId", w."endpointId", w.room, w.now,
      case when e.pause is null then w.cap when e.paused_until <= w.now then 1 else 0 end as cap,
      coalesce((select p.timeout_s from webhook_endpoint p where w."endpointId" not in ('webhook', 'internal')
        and p.merchant_id = w."merchantId" and p.id = w."endpointId"), ${DEFAULT_TIMEOUT_S}) + 5 as lock_s
    from json_to_recordset($1::json) as w("merchantId" text, "endpointId" text, cap int, room int, now timestamptz)
    left join endpoint e on e.merchant_id = w."merchantId" and e.kind = w."endpointId"
  ),
  due as materialized (
    select chosen.id, chosen.attempt_count, w.lock_s from wanted w cross join lateral (
      select id, attempt_count from (
        select * from delivery
        where merchant_id = w."merchantId" and endpoint_kind = w."endpointId" and due_at <= w.now + interval '1 s'
        order by due_at, id limit w.cap) first
      where ${FREE} and (due_at <= w.now or attempt_count = retry_base)
      order by due_at, id limit w.room) chosen
  ),
  free as materialized (
    select d.id, due.lock_s from due join delivery d on ${byIndex('d.id', 'due.id')} and d.attempt_count = due.attempt_count
    where ${FREE} for update of d skip locked
  ),
  taken as (
    update delivery d set locked_until = now() + free.lock_s * interval '1 s'
    from free, (select set_config('synchronous_commit', 'off', true)) no_wait
    where ${byIndex('d.id', 'free.id')}
    returning d.id, merchant_id, endpoint_kind as endpoint_id, request_id, kind, status_info, body, signature, attempt_count,
      retry_base, due_at, trace_parent, relayed_headers
  )
  select t.*, case when row_number() over (partition by t.merchant_id) = 1
    then (select ${TERMS} from merchant m where ${byIndex('m.id', 't.merchant_id')}) end as terms
  from taken t`;

const RELEASE_TAKEN = sql('release-taken-deliveries')`update delivery set locked_until = null
    where id = any($1::uuid[])`;

/**
 * SQL of a recursive common table `waiting`: the endpoints with pending deliveries. It skips through the index
 * delivery_due, so the cost grows with the number of endpoints, not of deliveries.
 */
export const WAITING_ENDPOINTS = `waiting as (
    (select merchant_id, endpoint_kind from delivery where due_at is not null
      order by merchant_id, endpoint_kind limit 1)
    union all
    select next.merchant_id, next.endpoint_kind from waiting w, lateral (
      select d.merchant_id, d.endpoint_kind from delivery d
      where d.due_at is not null and (d.merchant_id, d.endpoint_kind) > (w.merchant_id, w.endpoint_kind)
      order by d.merchant_id, d.endpoint_kind limit 1) next
  )`;

const FIND_WAITING = sql('find-waiting-endpoints')`with recursive ${WAITING_ENDPOINTS}
  select w.merchant_id, w.endpoint_kind as endpoint_id
  from waiting w left join endpoint e on e.merchant_id = w.merchant_id and e.kind = w.endpoint_kind
  where (e.pause is null or e.paused_until <= $1) and exists (
    select from delivery d
    where d.merchant_id = w.merchant_id and d.endpoint_kind = w.endpoint_kind
      and d.due_at <= $1::timestamptz + interval '1 s')`;
