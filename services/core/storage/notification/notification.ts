import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { NotificationKind } from '../delivery/delivery.ts';

/** A notification that the relay has verified. (merchantId, requestId) is unique for ever. */
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
    /**
     * The sender's X-Service-Signature while it waits for an internalUrl to be forwarded to; null = it does not wait.
     */
    parkedSignature: p.text().nullable(),
  },
  indexes: [
    { name: 'notification_age', properties: ['receivedAt'], where: 'body is not null' },
    { name: 'notification_parked', properties: ['merchantId', 'receivedAt'], where: 'parked_signature is not null' },
    {
      name: 'notification_by_merchant',
      properties: ['merchantId', 'receivedAt', 'requestId'],
      where: 'body is not null',
    },
  ],
});
export type NotificationRow = InferEntity<typeof NotificationEntity>;

/** A notification as it was signed. */
export type AcceptedRow = Omit<NotificationRow, 'body' | 'parkedSignature' | symbol>;

/** A verified notification that the relay hands in. */
export interface NotificationInput extends Omit<AcceptedRow, 'receivedAt'> {
  /** Base64. */
  readonly body: string;
  readonly signature: string;
  /** UUIDv7 of the delivery that forwards it, and of its place in quarantine if it is set aside. */
  readonly deliveryId: string;
  readonly quarantineId: string;
  /** RFC 3339. */
  readonly receivedAt: string;
  /** W3C traceparent, while tracing is on. */
  readonly traceParent?: string | undefined;
}

/** What names a notification. */
export type NotificationKey = Pick<NotificationInput, 'merchantId' | 'requestId'>;

/**
 * SQL of a common table `input`: notifications as JSON, with why and under which key they are quarantined, when they
 * are.
 */
export const NOTIFICATIONS = `input as materialized (
    select * from json_to_recordset($1::json) as i("merchantId" text, "requestId" text, kind text, "statusInfo" text,
      status text, amount text, currency text, body text, signature text, "deliveryId" uuid, "quarantineId" uuid,
      "receivedAt" timestamptz, "traceParent" text, reason text, "onceKey" text)
  )`;
