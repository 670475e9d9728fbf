import { defineEntity, type FilterQuery, type InferEntity, p } from '@mikro-orm/core';
import { drawId } from '../../../../platform/draw-id.ts';
import { type OrmDatabase, type Query, sql } from '../database.ts';
import type { NotificationKind } from '../delivery/delivery-row.ts';
import { insertForwards } from '../delivery/insert-deliveries.ts';
import type { EndpointKey } from '../endpoint/endpoint-row.ts';
import { internalEndpoints } from '../endpoint/fan-out.ts';
import { entityManager } from '../orm.ts';
import { type Slice, scanPage } from '../scan-page.ts';
import type { AcceptedRow, NotificationInput, NotificationKey } from './accepted-row.ts';
import { boundNotifications, NOTIFICATIONS } from './bound-notifications.ts';

/** A verified notification that was not accepted: an operator releases it once or discards it. Each is stored once. */
export const QuarantinedNotificationEntity = defineEntity({
  name: 'QuarantinedNotification',
  tableName: 'quarantined_notification',
  properties: {
    /** UUIDv7. */
    id: p.uuid().primary(),
    merchantId: p.text(),
    requestId: p.text(),
    kind: p.text().$type<NotificationKind>(),
    statusInfo: p.text(),
    status: p.text(),
    /** Source text, as signed. */
    amount: p.text(),
    currency: p.text(),
    /** The body as received; null once purged. */
    body: p.blob().nullable().$type<Buffer>(),
    signature: p.text(),
    reason: p.text().$type<'CONFLICT' | 'STATUS_INFO_CONTRADICTED'>(),
    state: p.text().$type<'HELD' | 'RELEASED' | 'DISCARDED'>(),
    receivedAt: p.datetime(3),
    decidedAt: p.datetime(3).nullable(),
    /** The delivery that a release made. */
    deliveryId: p.uuid().nullable(),
    /** Two with the same key are the same (setAllAside()). */
    onceKey: p.text().unique(),
    /** As of an accepted one. */
    identifier: p.text().nullable(),
    digest: p.text().nullable(),
    relayedHeaders: p.json().nullable().$type<Record<string, string>>(),
  },
});
export type QuarantinedNotificationRow = InferEntity<typeof QuarantinedNotificationEntity>;

/** A quarantined notification without its body. */
export type QuarantinedHead = Omit<QuarantinedNotificationRow, 'body' | symbol>;

/** Finds one by its id. */
export async function findQuarantined(database: OrmDatabase, id: string): Promise<QuarantinedHead | undefined> {
  const found = await entityManager(database).findOne(QuarantinedNotificationEntity, { id }, { exclude: ['body'] });
  return found ?? undefined;
}

/** Selects quarantined notifications. */
export type QuarantineFilter = Partial<Pick<QuarantinedNotificationRow, 'merchantId' | 'state'>>;

/** Lists quarantined notifications, newest first, those before the id `after`. Held ones have an index. */
export function listQuarantined(
  database: OrmDatabase,
  filter: QuarantineFilter,
  after: string | undefined,
  limit: number,
): Promise<Slice<QuarantinedHead>> {
  const indexed: FilterQuery<QuarantinedNotificationRow>[] = after === undefined ? [] : [{ id: { $lt: after } }];
  const compared: FilterQuery<QuarantinedNotificationRow>[] = [];
  const filtered = filter.state === 'HELD' ? indexed : compared;
  if (Object.keys(filter).length > 0) filtered.push(filter);
  const entity = QuarantinedNotificationEntity;
  const scan = { entity, key: 'id', indexed, compared, limit, exclude: ['body'] } as const;
  return scanPage<QuarantinedNotificationRow>(entityManager(database), scan);
}

type Reason = QuarantinedNotificationRow['reason'];

/** The result for a notification. FULL = not stored: MAX_HELD undecided ones of the merchant are held. */
export type Aside = 'STORED' | 'KNOWN' | 'FULL';

/** Quarantines a notification, once for each reason. */
export async function setAside(query: Query, notification: NotificationInput, reason: Reason): Promise<Aside> {
  return (await setAllAside(query, [notification], reason)).get(notification.deliveryId) ?? 'FULL';
}

/**
 * Quarantines notifications, once for each reason, kind and signed text. For a conflict the statusInfo does not matter,
 * since it is not signed; for a contradiction it does, in any case of letters. Returns the result for each by its
 * deliveryId, except for those that do not conflict with the accepted notification.
 */
export async function setAllAside(
  query: Query,
  notifications: readonly NotificationInput[],
  reason: Reason,
): Promise<ReadonlyMap<string, Aside>> {
  if (notifications.length === 0) return new Map();
  const input = notifications.map((notification) => {
    const { merchantId, requestId, kind, statusInfo, status, amount, currency, digest } = notification;
    const word = reason === 'CONFLICT' ? [] : [statusInfo.toLowerCase()];
    const content = digest === null ? [] : [digest];
    const onceKey = [reason, merchantId, requestId, kind, status, amount, currency, ...word, ...content].join(' ');
    return { ...notification, quarantineId: drawId(), onceKey };
  });
  const rows = await query<{ id: string; aside: Aside }>(SET_ASIDE, [...boundNotifications(input), reason]);
  return new Map(rows.map(({ id, aside }) => [id, aside]));
}

/** A genuine secret could fill the disk with contradictions, 64 KiB each. */
const MAX_HELD = 500;

/** A row that had room and was not inserted exists already, perhaps since this statement began. */
const SET_ASIDE = sql('set-aside')`with input as materialized (
    select i.*, (select count(*) from (select from quarantined_notification q
        where q.merchant_id = i."merchantId" and q.state = 'HELD' limit ${MAX_HELD}) held) < ${MAX_HELD} as "hasRoom"
    from json_to_recordset($1::json) as i(${NOTIFICATIONS.columns}, "quarantineId" uuid, "onceKey" text)
    where $3 <> 'CONFLICT' or exists (select from notification n
      where n.merchant_id = any (array[i."merchantId"]) and n.request_id = any (array[i."requestId"])
        and (n.kind, n.status, n.amount, n.currency, n.digest)
          is distinct from (i.kind, i.status, i.amount, i.currency, i.digest))
  ),
  aside as (
    insert into quarantined_notification (id, merchant_id, request_id, kind, status_info, status, amount, currency,
      body, signature, reason, state, received_at, once_key, identifier, digest, relayed_headers)
    select "quarantineId", "merchantId", "requestId", kind, "statusInfo", status, amount, currency,
      ${NOTIFICATIONS.body}, signature, $3, 'HELD', "receivedAt", "onceKey", identifier, digest, "relayedHeaders"
    from input i where "hasRoom"
    on conflict do nothing returning id
  )
  select i."deliveryId" as id, case when i."quarantineId" in (select id from aside) then 'STORED'
    when "hasRoom" or exists (select from quarantined_notification q where q.once_key = any (array[i."onceKey"]))
    then 'KNOWN'
    else 'FULL' end as aside
  from input i`;

/** Reads the notifications that were accepted under some names, without bodies; a free name is left out. */
export function readAccepted(query: Query, names: readonly NotificationKey[]): Promise<AcceptedRow[]> {
  const keys = names.map(({ merchantId, requestId }) => ({ merchantId, requestId }));
  return query<AcceptedRow>(READ_ACCEPTED, [JSON.stringify(keys)]);
}

/**
 * Forwards a held notification, the first of its deliveries with this id. Returns their endpoints; none = it is not held
 * or cannot be forwarded.
 */
export function releaseHeld(query: Query, id: string, deliveryId: string, at: Date): Promise<EndpointKey[]> {
  return query<EndpointKey>(RELEASE, [id, deliveryId, at]);
}

/** Selects the held notifications to discard; an absent bound matches all. */
export interface DiscardFilter {
  readonly merchantId: string;
  readonly reason: Reason | null;
  readonly receivedFrom: Date | null;
  readonly receivedTo: Date | null;
}

/** Discards the held notifications of a merchant that match, oldest first, at most `limit`. Returns their number. */
export async function discardMatching(query: Query, filter: DiscardFilter, limit: number, at: Date): Promise<number> {
  const { merchantId, reason, receivedFrom, receivedTo } = filter;
  return (await query(DISCARD_MATCHING, [merchantId, reason, receivedFrom, receivedTo, limit, at])).length;
}

/** Discards a held notification. Returns false when it is not held. */
export async function discardHeld(query: Query, id: string, at: Date): Promise<boolean> {
  return (await query(DISCARD, [id, at])).length === 1;
}

const READ_ACCEPTED = sql('read-accepted')`
    select n.merchant_id, n.request_id, n.kind, n.status_info, n.status, n.amount, n.currency, n.received_at,
      n.identifier
    from (select distinct * from json_to_recordset($1::json) as i("merchantId" text, "requestId" text)) i
    join notification n on n.merchant_id = any (array[i."merchantId"]) and n.request_id = any (array[i."requestId"])`;

const RELEASE = sql('release-held')`with released as (
    update quarantined_notification q set state = 'RELEASED', decided_at = $3, delivery_id = $2
    from merchant m
    where q.id = $1 and q.state = 'HELD' and q.body is not null and m.id = q.merchant_id
      and exists (${internalEndpoints('m', 'q.kind', 'q.status_info')})
    returning q.*
  )
  ${insertForwards({ id: '$2', signature: 'signature', at: '$3', from: 'released' })}`;

const DISCARD = sql('discard-held')`update quarantined_notification set state = 'DISCARDED', decided_at = $2
    where id = $1 and state = 'HELD' returning id`;

const DISCARD_MATCHING = sql('discard-matching')`
    update quarantined_notification set state = 'DISCARDED', decided_at = $6 where state = 'HELD' and id in (
      select id from quarantined_notification
      where merchant_id = $1 and state = 'HELD' and ($2::text is null or reason = $2)
        and ($3::timestamptz is null or received_at >= $3) and ($4::timestamptz is null or received_at < $4)
      order by id limit $5)
    returning id`;
