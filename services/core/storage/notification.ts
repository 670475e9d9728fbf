import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { NotificationKind } from './delivery.ts';

/** A notification that the relay verified. (merchantId, requestId) is taken once and remembered for ever. */
export const NotificationEntity = defineEntity({
  name: 'Notification',
  tableName: 'notification',
  properties: {
    merchantId: p.text().primary(),
    requestId: p.text().primary(),
    kind: p.text().$type<NotificationKind>(),
    statusInfo: p.text(),
    status: p.text(),
    /** Source text, as signed. */
    amount: p.text(),
    currency: p.text(),
    /** The body as received; null once purged. */
    body: p.blob().nullable().$type<Buffer>(),
    receivedAt: p.datetime(3),
    /** The sender's X-Service-Signature while it waits for an internalUrl to be forwarded to; null = it does not wait. */
    parkedSignature: p.text().nullable(),
  },
  indexes: [
    {
      name: 'notification_age',
      expression: 'create index "notification_age" on "notification" ("received_at") where body is not null',
    },
    {
      name: 'notification_parked',
      expression:
        'create index "notification_parked" on "notification" ("merchant_id", "received_at") where parked_signature is not null',
    },
    {
      name: 'notification_by_merchant',
      expression:
        'create index "notification_by_merchant" on "notification" ("merchant_id", "received_at", "request_id") where body is not null',
    },
  ],
});
export type NotificationRow = InferEntity<typeof NotificationEntity>;
