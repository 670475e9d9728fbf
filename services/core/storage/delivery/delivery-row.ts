import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { OperationalKind } from '../../domain/notification-types.ts';

/** What an endpoint gets: notifications of this service, or those that the relay verified. */
export type EndpointPurpose = 'webhook' | 'internal';
/** Names an endpoint of a merchant: one of the contract's two, or a further one, whose id begins with its purpose. */
export type EndpointId = EndpointPurpose | `${EndpointPurpose}-${string}`;

/** The purpose of an endpoint. */
export function purposeOf(endpointId: EndpointId): EndpointPurpose {
  return endpointId.startsWith('internal') ? 'internal' : 'webhook';
}

/** Returns whether it is one of the contract's two. */
export function isOfContract(endpointId: EndpointId): endpointId is EndpointPurpose {
  return endpointId === 'webhook' || endpointId === 'internal';
}

/** The id of an endpoint for callers: they know the webhook as `default`. */
export function shownEndpointId(id: EndpointId): string {
  return id === 'webhook' ? 'default' : id;
}

/**
 * Why an endpoint gave no answer. LOOKUP: no name server answered, or the proxy opened no tunnel, which is not the
 * endpoint's failure.
 */
export type Fault = 'LOOKUP' | 'UNREACHABLE' | 'TLS' | 'TIMEOUT' | 'PROTOCOL';
/** relay: of another sender of the merchant's; its statusInfo is the senderId. */
export type NotificationKind = 'payment' | 'oct' | 'relay' | OperationalKind;

/** The delivery of one notification to one endpoint. */
export const DeliveryEntity = defineEntity({
  name: 'Delivery',
  tableName: 'delivery',
  properties: {
    /** UUIDv7; also the webhook-id of every attempt. */
    id: p.uuid().primary(),
    merchantId: p.text(),
    endpointId: p.text().name('endpoint_kind').$type<EndpointId>(),
    /** The operation's, or the relayed notification's, requestId. */
    requestId: p.text(),
    kind: p.text().$type<NotificationKind>(),
    statusInfo: p.text(),
    /** The exact bytes to send; null once purged. */
    body: p.blob().nullable().$type<Buffer>(),
    /** The sender's X-Service-Signature, for a relayed notification; null = signed at each attempt. */
    signature: p.text().nullable(),
    /** The headers of another sender's notification that are forwarded with it, by name; null = of no other sender. */
    relayedHeaders: p.json().nullable().$type<Record<string, string>>(),
    /** W3C traceparent of its cause; null = not traced. */
    traceParent: p.text().nullable(),
    state: p.text().$type<'PENDING' | 'DELIVERED' | 'DEAD'>(),
    attemptCount: p.integer(),
    /** Attempts made before the last replay: the schedule counts from there. */
    retryBase: p.integer().default(0),
    /** When the next attempt is due; null when none is. */
    dueAt: p.datetime(3).nullable(),
    /**
     * Until when a worker has taken it for an attempt; null = it is free. In no index, so that taking it writes only
     * the row; half of each page is kept free for that (fillfactor), because a backlog is taken page by page.
     */
    lockedUntil: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
    deliveredAt: p.datetime(3).nullable(),
  },
});
export type DeliveryRow = InferEntity<typeof DeliveryEntity>;

export const DeliveryAttemptEntity = defineEntity({
  name: 'DeliveryAttempt',
  tableName: 'delivery_attempt',
  properties: {
    deliveryId: p.uuid().primary(),
    number: p.integer().primary(),
    merchantId: p.text(),
    startedAt: p.datetime(3),
    latencyMs: p.integer(),
    /** Null = no answer. */
    httpStatus: p.integer().nullable(),
    /** Null = success. */
    error: p.text().nullable(),
    /** The network's failure; null = none. */
    fault: p.text().nullable().$type<Fault>(),
    /** The URL it was sent to; null = the merchant had no such endpoint. */
    url: p.text().nullable(),
    /** Without secrets; null once purged. */
    responseHead: p.text().nullable(),
  },
});
export type DeliveryAttemptRow = InferEntity<typeof DeliveryAttemptEntity>;
