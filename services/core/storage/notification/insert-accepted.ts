import { type Query, sql } from '../database.ts';
import type { EndpointId } from '../delivery/delivery-row.ts';
import { furtherDeliveryId, hasInternal, internalEndpoints } from '../endpoint/fan-out.ts';
import type { NotificationInput } from './accepted-row.ts';
import { boundNotifications, NOTIFICATIONS } from './bound-notifications.ts';
import { type Aside, setAllAside } from './quarantined-notification.ts';

/** The result for one notification. */
export interface Accepted {
  readonly outcome: 'STORED' | 'DUPLICATE' | 'CONFLICT';
  /** The internal endpoints for which deliveries wait. It is parked while the merchant has none. */
  readonly forwards: readonly EndpointId[];
  /** With CONFLICT: whether it was quarantined. */
  readonly aside?: Aside | undefined;
}

/**
 * Stores verified notifications. The first one with a (merchantId, requestId) takes it for ever. Another with the same
 * kind and signed text is a duplicate, whatever its statusInfo and body; of another sender the same body is one. Any
 * other is a conflict, quarantined once. No two of `notifications` may share (merchantId, requestId). Returns the
 * results in the same order.
 */
export async function acceptNotifications(
  query: Query,
  notifications: readonly NotificationInput[],
): Promise<Accepted[]> {
  const rows = await query<{ id: string; forwards: EndpointId[] }>(STORE, boundNotifications(notifications));
  const stored = new Map(rows.map((row) => [row.id, row.forwards]));
  const others = notifications.filter(({ deliveryId }) => !stored.has(deliveryId));
  // A separate statement, because it must see the rows that others stored while the first one waited for them.
  const conflicts = await setAllAside(query, others, 'CONFLICT');
  return notifications.map(({ deliveryId }) => {
    const forwards = stored.get(deliveryId);
    if (forwards !== undefined) return { outcome: 'STORED', forwards };
    const aside = conflicts.get(deliveryId);
    return { outcome: aside ? 'CONFLICT' : 'DUPLICATE', forwards: [], aside };
  });
}

const STORE = sql('store-notifications')`with addressed as materialized (
    select i.*, m.id, m.internal_url, m.has_endpoints, ${hasInternal('m')} as forwards
    from json_to_recordset($1::json) as i(${NOTIFICATIONS.columns}, "traceParent" text)
    left join merchant m on m.id = any (array[i."merchantId"])
  ),
  stored as (
    insert into notification (merchant_id, request_id, kind, status_info, status, amount, currency, body, received_at,
      parked_signature, identifier, digest, relayed_headers)
    select "merchantId", "requestId", kind, "statusInfo", status, amount, currency, ${NOTIFICATIONS.body},
      "receivedAt", case when forward and forwards is not true then signature end, identifier, digest, "relayedHeaders"
    from addressed i order by "merchantId", "requestId"
    on conflict do nothing
    returning merchant_id, request_id
  ),
  delivered as (
    insert into delivery (id, merchant_id, endpoint_kind, request_id, kind, status_info, body, signature, state,
      attempt_count, due_at, created_at, trace_parent, relayed_headers)
    select case endpoint.id when 'internal' then i."deliveryId" else ${furtherDeliveryId('i."deliveryId"')} end,
      i."merchantId", endpoint.id, i."requestId", i.kind, i."statusInfo", ${NOTIFICATIONS.body},
      i.signature, 'PENDING', 0, i."receivedAt", i."receivedAt", i."traceParent", i."relayedHeaders"
    from addressed i
    join stored s on s.merchant_id = i."merchantId" and s.request_id = i."requestId"
    cross join lateral (${internalEndpoints('i', 'i.kind', 'i."statusInfo"')}) endpoint
    where i.forward
    returning merchant_id, request_id, endpoint_kind
  )
  select i."deliveryId" as id, array(select d.endpoint_kind from delivered d
    where d.merchant_id = i."merchantId" and d.request_id = i."requestId") as forwards
  from addressed i join stored s on s.merchant_id = i."merchantId" and s.request_id = i."requestId"`;
