import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Database } from '../database.ts';
import type { NotificationKind } from '../delivery/delivery.ts';
import { entityManager } from '../orm.ts';

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
    /** Two with the same key are the same (onceKey() in quarantine.ts); null = quarantined by an earlier version. */
    onceKey: p.text().nullable().unique(),
  },
  checks: [
    { name: 'quarantined_notification_reason', expression: "reason in ('CONFLICT', 'STATUS_INFO_CONTRADICTED')" },
    { name: 'quarantined_notification_state', expression: "state in ('HELD', 'RELEASED', 'DISCARDED')" },
  ],
  indexes: [
    {
      name: 'quarantined_notification_once',
      expression:
        'create unique index "quarantined_notification_once" on "quarantined_notification" ("merchant_id", "request_id", "kind", "status_info", "status", "amount", "currency", "reason")',
    },
    {
      name: 'quarantined_notification_held',
      expression:
        'create index "quarantined_notification_held" on "quarantined_notification" ("id") where state = \'HELD\'',
    },
  ],
});
export type QuarantinedNotificationRow = InferEntity<typeof QuarantinedNotificationEntity>;

/** A quarantined notification without its body. */
export type QuarantinedHead = Omit<QuarantinedNotificationRow, 'body' | symbol>;

/** Finds one by its id. */
export async function findQuarantined(database: Database, id: string): Promise<QuarantinedHead | undefined> {
  const found = await entityManager(database).findOne(QuarantinedNotificationEntity, { id }, { exclude: ['body'] });
  return found ?? undefined;
}

/** Lists them, newest first, those before the id `after`; undefined = from the newest. */
export function listQuarantined(
  database: Database,
  filter: { readonly merchantId?: string; readonly state?: QuarantinedHead['state'] },
  after: string | undefined,
  limit: number,
): Promise<QuarantinedHead[]> {
  const where = { ...filter, ...(after !== undefined && { id: { $lt: after } }) };
  const options = { orderBy: { id: 'desc' }, limit, exclude: ['body'] } as const;
  return entityManager(database).find(QuarantinedNotificationEntity, where, options);
}
