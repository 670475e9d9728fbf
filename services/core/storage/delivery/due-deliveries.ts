import { readRows } from '../camel-cased.ts';
import type { Query, Statement } from '../database.ts';
import type { EndpointKey } from '../endpoint/endpoint.ts';
import type { DeliveryRow } from './delivery.ts';

/** A delivery as an attempt needs it. */
export type PendingDelivery = Pick<
  DeliveryRow,
  'id' | 'merchantId' | 'endpointKind' | 'requestId' | 'kind' | 'statusInfo' | 'attemptCount' | 'retryBase'
> & {
  readonly body: Buffer;
  readonly signature: string | null;
  readonly dueAt: Date;
  readonly traceParent: string | null;
};

/** A delivery without an alarm, or with one to move. */
export interface DueDelivery extends EndpointKey {
  readonly id: string;
  readonly dueAt: Date;
}

/** SQL: the columns of a DueDelivery, of the row `d`. */
export const DUE_COLUMNS = `d.id, d.merchant_id as "merchantId", d.endpoint_kind as kind, d.due_at as "dueAt"`;

/** SQL that inserts deliveries which forward the notifications of a table `from` to internal endpoints; id, signature and time are SQL. */
export function insertForwards({
  id,
  signature,
  at,
  from,
}: Record<'id' | 'signature' | 'at' | 'from', string>): string {
  return `insert into delivery as d (id, merchant_id, endpoint_kind, request_id, kind, status_info, body, signature, state,
    attempt_count, due_at, created_at)
  select ${id}, merchant_id, 'internal', request_id, kind, status_info, body, ${signature}, 'PENDING', 0, ${at}, ${at} from ${from}
  returning ${DUE_COLUMNS}`;
}

/** Reads pending deliveries; those that are not pending or have no body are left out. */
export function readPending(query: Query, ids: readonly string[]): Promise<PendingDelivery[]> {
  return readRows<PendingDelivery>(query, READ_PENDING, [ids]);
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
  text: `select id, merchant_id, endpoint_kind, request_id, kind, status_info, body, signature, attempt_count, retry_base, due_at,
      trace_parent
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
  select ${DUE_COLUMNS}
  from waiting w
  left join endpoint e on e.merchant_id = w.merchant_id and e.kind = w.endpoint_kind
  cross join lateral (
    select * from delivery due
    where due.merchant_id = w.merchant_id and due.endpoint_kind = w.endpoint_kind and due.due_at <= $1
    order by due.due_at limit $3
  ) d
  where (e.pause is null or e.paused_until <= $2)
    and not exists (select from pgboss.job j where j.name = 'delivery' and j.id = d.id)`,
};

const FIND_FIRST_DUE: Statement = {
  name: 'find-first-due-delivery',
  text: `select ${DUE_COLUMNS} from delivery d
    where merchant_id = $1 and endpoint_kind = $2 and due_at is not null order by due_at limit 1`,
};

/** The delivery of a notification about nothing. */
export interface TestDeliveryInput {
  readonly id: string;
  readonly merchantId: string;
  readonly requestId: string;
  readonly body: string;
  readonly at: Date;
}

/** Stores the delivery to the merchant's webhook, due at once. Returns undefined when the merchant has no webhookUrl. */
export async function insertTestDelivery(query: Query, input: TestDeliveryInput): Promise<DueDelivery | undefined> {
  const { id, merchantId, requestId, body, at } = input;
  return (await query<DueDelivery>(INSERT_TEST_DELIVERY, [id, merchantId, requestId, body, at]))[0];
}

const INSERT_TEST_DELIVERY: Statement = {
  name: 'insert-test-delivery',
  text: `insert into delivery as d (id, merchant_id, endpoint_kind, request_id, kind, status_info, body, state, attempt_count,
      due_at, created_at)
    select $1, m.id, 'webhook', $3, 'payment', 'test', convert_to($4, 'UTF8'), 'PENDING', 0, $5, $5
    from merchant m where m.id = $2 and m.webhook_url is not null
    returning ${DUE_COLUMNS}`,
};
