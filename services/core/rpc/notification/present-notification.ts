import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  type DeliveryAttemptSchema,
  type DeliverySchema,
  DeliveryState,
  EndpointPause,
  type EndpointSchema,
  type QuarantinedNotificationSchema,
  QuarantineReason,
  QuarantineState,
  type StoredNotificationSchema,
  StoredNotificationState,
  VerificationFailureReason,
  type VerificationFailureSchema,
} from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import type { DeliveryRow } from '../../storage/delivery.ts';
import type { DeliveryAttemptRow } from '../../storage/delivery-attempt.ts';
import type { EndpointRow } from '../../storage/endpoint.ts';
import type { AcceptedRow } from '../../storage/quarantine.ts';
import type { QuarantinedNotificationRow } from '../../storage/quarantined-notification.ts';
import type { StoredRow } from '../../storage/stored-notifications.ts';
import type { VerificationFailureRow } from '../../storage/verification-failure.ts';
import { endpointKindOf, notificationKindOf } from './kinds.ts';

/** A delivery as operators see it; never its body. */
export function presentDelivery(
  row: DeliveryRow,
  attempts: readonly DeliveryAttemptRow[] = [],
): MessageInitShape<typeof DeliverySchema> {
  return {
    deliveryId: row.id,
    merchantId: row.merchantId,
    endpointKind: endpointKindOf(row.endpointKind),
    requestId: row.requestId,
    kind: notificationKindOf(row.kind),
    statusInfo: row.statusInfo,
    state: DeliveryState[row.state],
    attemptCount: row.attemptCount,
    ...(row.dueAt && { dueAt: timestampFromDate(row.dueAt) }),
    createdAt: timestampFromDate(row.createdAt),
    ...(row.deliveredAt && { deliveredAt: timestampFromDate(row.deliveredAt) }),
    attempts: attempts.map(presentAttempt),
  };
}

function presentAttempt(row: DeliveryAttemptRow): MessageInitShape<typeof DeliveryAttemptSchema> {
  return {
    number: row.number,
    startedAt: timestampFromDate(row.startedAt),
    latencyMs: row.latencyMs,
    httpStatus: row.httpStatus ?? 0,
    error: row.error ?? '',
    responseHead: row.responseHead ?? '',
  };
}

/** An endpoint as operators see it. */
export function presentEndpoint(row: Readonly<EndpointRow>): MessageInitShape<typeof EndpointSchema> {
  return {
    merchantId: row.merchantId,
    endpointKind: endpointKindOf(row.kind),
    pause: row.pause == null ? EndpointPause.UNSPECIFIED : EndpointPause[row.pause],
    ...(row.pausedUntil && { pausedUntil: timestampFromDate(row.pausedUntil) }),
    failureCount: row.failureCount,
    changedAt: timestampFromDate(row.changedAt),
  };
}

/** A notification that was set aside and what was accepted under its name, as operators see them; never a body or signature. */
export function presentQuarantined(
  row: QuarantinedNotificationRow,
  accepted: AcceptedRow | undefined,
): MessageInitShape<typeof QuarantinedNotificationSchema> {
  return {
    quarantineId: row.id,
    merchantId: row.merchantId,
    requestId: row.requestId,
    kind: notificationKindOf(row.kind),
    statusInfo: row.statusInfo,
    status: row.status,
    amount: row.amount,
    currency: row.currency,
    reason: QuarantineReason[row.reason],
    state: QuarantineState[row.state],
    receivedAt: timestampFromDate(row.receivedAt),
    ...(row.decidedAt && { decidedAt: timestampFromDate(row.decidedAt) }),
    deliveryId: row.deliveryId ?? '',
    ...(accepted && { accepted: presentAccepted(accepted) }),
  };
}

/** An accepted notification as operators see it, and where it stands; never its body. */
export function presentStored(row: StoredRow): MessageInitShape<typeof StoredNotificationSchema> {
  const forwarding =
    row.deliveryId === null ? StoredNotificationState.NOT_FORWARDED : StoredNotificationState.FORWARDED;
  const state = row.parked ? StoredNotificationState.PARKED : forwarding;
  return { ...presentAccepted(row), state, deliveryId: row.deliveryId ?? '' };
}

function presentAccepted(row: AcceptedRow): MessageInitShape<typeof StoredNotificationSchema> {
  const { merchantId, requestId, statusInfo, status, amount, currency } = row;
  const kind = notificationKindOf(row.kind);
  return {
    merchantId,
    requestId,
    kind,
    statusInfo,
    status,
    amount,
    currency,
    receivedAt: timestampFromDate(row.receivedAt),
  };
}

/** A failed verification as operators see it. */
export function presentFailure(row: VerificationFailureRow): MessageInitShape<typeof VerificationFailureSchema> {
  return {
    failureId: row.id,
    failedAt: timestampFromDate(row.failedAt),
    reason: VerificationFailureReason[row.reason as keyof typeof VerificationFailureReason],
    kind: notificationKindOf(row.kind),
    statusInfo: row.statusInfo,
    claimedMerchantId: row.claimedMerchantId,
    address: row.address,
    bodyBytes: row.bodyBytes,
    bodySha256: row.bodySha256,
    signatureSha256Prefix: row.signatureSha256Prefix,
  };
}
