import type { Query, Statement } from '../database.ts';
import type { EndpointKey } from '../endpoint/endpoint.ts';
import type { EndpointKind, NotificationKind } from './delivery.ts';

/** A delivery as an attempt needs it. */
export interface PendingDelivery {
  readonly id: string;
  readonly merchantId: string;
  readonly endpointKind: EndpointKind;
  readonly requestId: string;
  readonly kind: NotificationKind;
  readonly statusInfo: string;
  readonly body: Buffer;
  readonly signature: string | null;
  readonly attemptCount: number;
  readonly retryBase: number;
  readonly dueAt: Date;
  readonly traceParent: string | null;
}

/** A delivery without an alarm, or with one to move. */
export interface DueDelivery extends EndpointKey {
  readonly id: string;
  readonly dueAt: Date;
}

/** Reads pending deliveries; those that are not pending or have no body are left out. */
export async function readPending(query: Query, ids: readonly string[]): Promise<PendingDelivery[]> {
  return query<PendingDelivery>(READ_PENDING, [ids]);
}

/** Finds deliveries due since `before` that have no alarm, at most `limit` per endpoint, oldest first. Paused endpoints are skipped. */
export async function findSilent(query: Query, before: Date, now: Date, limit: number): Promise<DueDelivery[]> {
  return query<DueDelivery>(FIND_SILENT, [before, now, limit]);
}

/** The delivery of an endpoint that is due first. */
export async function findFirstDue(query: Query, { merchantId, kind }: EndpointKey): Promise<DueDelivery | undefined> {
  return (await query<DueDelivery>(FIND_FIRST_DUE, [merchantId, kind]))[0];
}

const READ_PENDING: Statement = {
  name: 'read-pending-deliveries',
  text: `select id, merchant_id as "merchantId", endpoint_kind as "endpointKind", request_id as "requestId", kind,
      status_info as "statusInfo", body, signature, attempt_count as "attemptCount", retry_base as "retryBase",
      due_at as "dueAt", trace_parent as "traceParent"
    from delivery where id = any($1::uuid[]) and state = 'PENDING' and body is not null`,
};

/**
 * SQL of a recursive common table `waiting`: the endpoints with due deliveries. It skips through the index delivery_due, so the cost
 * grows with the number of endpoints, not of deliveries.
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

const FIND_SILENT: Statement = {
  name: 'find-silent-deliveries',
  text: `with recursive ${WAITING_ENDPOINTS}
  select due.id, w.merchant_id as "merchantId", w.endpoint_kind as kind, due.due_at as "dueAt"
  from waiting w
  left join endpoint e on e.merchant_id = w.merchant_id and e.kind = w.endpoint_kind
  cross join lateral (
    select d.id, d.due_at from delivery d
    where d.merchant_id = w.merchant_id and d.endpoint_kind = w.endpoint_kind and d.due_at <= $1
    order by d.due_at limit $3
  ) due
  where (e.pause is null or e.paused_until <= $2)
    and not exists (select from pgboss.job j where j.name = 'delivery' and j.id = due.id)`,
};

const FIND_FIRST_DUE: Statement = {
  name: 'find-first-due-delivery',
  text: `select id, merchant_id as "merchantId", endpoint_kind as kind, due_at as "dueAt" from delivery
    where merchant_id = $1 and endpoint_kind = $2 and due_at is not null order by due_at limit 1`,
};
