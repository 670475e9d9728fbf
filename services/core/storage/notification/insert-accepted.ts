import { byIndex } from '../by-index.ts';
import { type Query, sql } from '../database.ts';
import { NOTIFICATIONS, type NotificationInput } from './accepted-row.ts';
import { ASIDE, type Aside, asideFor, insertAside } from './quarantined-notification.ts';

/** The result for one notification. */
export interface Accepted {
  readonly outcome: 'STORED' | 'DUPLICATE' | 'CONFLICT';
  /** STORED, and the merchant has an internalUrl: the delivery waits for its attempt. Otherwise it is parked. */
  readonly forwards: boolean;
  /** With CONFLICT: whether it was quarantined. */
  readonly aside?: Aside | undefined;
}

/**
 * Stores verified notifications. The first one with a (merchantId, requestId) takes it for ever. Another with the same
 * kind and signed text is a duplicate, whatever its statusInfo and body; any other is a conflict, which is quarantined
 * once. No two of `notifications` may share (merchantId, requestId). Returns the results in their order.
 */
export async function acceptNotifications(
  query: Query,
  notifications: readonly NotificationInput[],
): Promise<Accepted[]> {
  const rows = await query<{ id: string; forwards: boolean }>(STORE, [JSON.stringify(notifications)]);
  const stored = new Map(rows.map((row) => [row.id, row.forwards]));
  const others = notifications.filter(({ deliveryId }) => !stored.has(deliveryId));
  const asides = others.map((other) => asideFor('CONFLICT', other));
  // Another statement, because it must see what was stored by others while the first one waited for them.
  const conflicts =
    asides.length === 0 ? [] : await query<{ id: string; aside: Aside }>(SET_CONFLICTS_ASIDE, [JSON.stringify(asides)]);
  const conflictOf = new Map(conflicts.map(({ id, aside }) => [id, aside]));
  return notifications.map(({ deliveryId }) => {
    const forwards = stored.get(deliveryId);
    if (forwards !== undefined) return { outcome: 'STORED', forwards };
    const aside = conflictOf.get(deliveryId);
    return { outcome: aside ? 'CONFLICT' : 'DUPLICATE', forwards: false, aside };
  });
}

const STORE = sql('store-notifications')`with ${NOTIFICATIONS},
  addressed as materialized (
    select i.*, m.internal_url is not null as forwards from input i
    left join merchant m on ${byIndex('m.id', 'i."merchantId"')}
  ),
  stored as (
    insert into notification (merchant_id, request_id, kind, status_info, status, amount, currency, body, received_at,
      parked_signature)
    select "merchantId", "requestId", kind, "statusInfo", status, amount, currency, decode(body, 'base64'),
      "receivedAt", case when not forwards then signature end
    from addressed order by "merchantId", "requestId"
    on conflict do nothing
    returning merchant_id, request_id
  ),
  delivered as (
    insert into delivery (id, merchant_id, endpoint_kind, request_id, kind, status_info, body, signature, state,
      attempt_count, due_at, created_at, trace_parent)
    select i."deliveryId", i."merchantId", 'internal', i."requestId", i.kind, i."statusInfo", decode(i.body, 'base64'),
      i.signature, 'PENDING', 0, i."receivedAt", i."receivedAt", i."traceParent"
    from addressed i
    join stored s on s.merchant_id = i."merchantId" and s.request_id = i."requestId"
    where i.forwards
    returning id
  )
  select i."deliveryId" as id, i."deliveryId" in (select id from delivered) as forwards
  from input i join stored s on s.merchant_id = i."merchantId" and s.request_id = i."requestId"`;

const SET_CONFLICTS_ASIDE = sql('set-conflicts-aside')`with ${NOTIFICATIONS},
  conflicting as (
    select i.* from input i
    join notification n on ${byIndex('n.merchant_id', 'i."merchantId"')} and ${byIndex('n.request_id', 'i."requestId"')}
    where (n.kind, n.status, n.amount, n.currency) is distinct from (i.kind, i.status, i.amount, i.currency)
  ),
  ${insertAside('conflicting')}
  select i."deliveryId" as id, ${ASIDE} from conflicting i`;
