import {
  type Delivery,
  type DeliveryAttempt,
  DeliveryState,
  type Endpoint,
  EndpointKind,
  EndpointPause,
  NotificationKind,
  type QuarantinedNotification,
  QuarantineReason,
  QuarantineState,
  type StoredNotification,
  StoredNotificationState,
  type VerificationFailure,
  VerificationFailureReason,
} from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { some, time } from '../../rest/answer/words.ts';

/** A delivery, without its attempts. */
export function deliveryJson(delivery: Delivery) {
  return {
    deliveryId: delivery.deliveryId,
    merchantId: delivery.merchantId,
    endpointKind: EndpointKind[delivery.endpointKind],
    requestId: delivery.requestId,
    kind: NotificationKind[delivery.kind],
    statusInfo: delivery.statusInfo,
    state: DeliveryState[delivery.state],
    attemptCount: delivery.attemptCount,
    dueAt: time(delivery.dueAt),
    createdAt: time(delivery.createdAt),
    deliveredAt: time(delivery.deliveredAt),
  };
}

/** A delivery with its attempts, oldest first. */
export function deliveryWithAttemptsJson(delivery: Delivery) {
  return { ...deliveryJson(delivery), attempts: delivery.attempts.map(attemptJson) };
}

function attemptJson(attempt: DeliveryAttempt) {
  return {
    number: attempt.number,
    startedAt: time(attempt.startedAt),
    latencyMs: attempt.latencyMs,
    httpStatus: attempt.httpStatus || undefined,
    error: some(attempt.error),
    responseHead: some(attempt.responseHead),
  };
}

/** An endpoint that fails or is paused. */
export function endpointJson(endpoint: Endpoint) {
  return {
    merchantId: endpoint.merchantId,
    endpointKind: EndpointKind[endpoint.endpointKind],
    pause: endpoint.pause ? EndpointPause[endpoint.pause] : undefined,
    pausedUntil: time(endpoint.pausedUntil),
    failureCount: endpoint.failureCount,
    changedAt: time(endpoint.changedAt),
  };
}

/** A notification that could not be verified. */
export function failureJson(failure: VerificationFailure) {
  return {
    failureId: failure.failureId,
    failedAt: time(failure.failedAt),
    reason: VerificationFailureReason[failure.reason],
    kind: NotificationKind[failure.kind],
    statusInfo: failure.statusInfo,
    claimedMerchantId: failure.claimedMerchantId,
    address: some(failure.address),
    bodyBytes: failure.bodyBytes,
    bodySha256: Buffer.from(failure.bodySha256).toString('hex'),
    signatureSha256Prefix: some(failure.signatureSha256Prefix),
  };
}

/** A notification that was set aside. */
export function quarantinedJson(notification: QuarantinedNotification) {
  return {
    quarantineId: notification.quarantineId,
    merchantId: notification.merchantId,
    requestId: notification.requestId,
    kind: NotificationKind[notification.kind],
    statusInfo: notification.statusInfo,
    status: notification.status,
    amount: notification.amount,
    currency: notification.currency,
    reason: QuarantineReason[notification.reason],
    state: QuarantineState[notification.state],
    receivedAt: time(notification.receivedAt),
    decidedAt: time(notification.decidedAt),
    deliveryId: some(notification.deliveryId),
    accepted: notification.accepted && acceptedJson(notification.accepted),
  };
}

/** A notification that was accepted, and where it stands. */
export function storedJson(notification: StoredNotification) {
  const state = StoredNotificationState[notification.state];
  return { ...acceptedJson(notification), state, deliveryId: some(notification.deliveryId) };
}

function acceptedJson(notification: StoredNotification) {
  return {
    merchantId: notification.merchantId,
    requestId: notification.requestId,
    kind: NotificationKind[notification.kind],
    statusInfo: notification.statusInfo,
    status: notification.status,
    amount: notification.amount,
    currency: notification.currency,
    receivedAt: time(notification.receivedAt),
  };
}
