import { v7 as uuidv7 } from 'uuid';
import { traceParent } from '../../../../platform/tracing.ts';
import type {
  AcceptNotificationRequest,
  QuarantineNotificationRequest,
} from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import type { NotificationInput } from '../../storage/notification/notification.ts';
import { keptNotificationKind } from '../kinds.ts';

/** Converts a verified notification of the contract to what storage takes. */
export function notificationInput(
  request: AcceptNotificationRequest | QuarantineNotificationRequest,
  at: Date,
): NotificationInput {
  const { merchantId, requestId, statusInfo, status, amount, currency, signature, body } = request;
  return {
    merchantId,
    requestId,
    kind: keptNotificationKind(request.kind),
    statusInfo,
    status,
    amount,
    currency,
    body: Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('base64'),
    signature,
    deliveryId: uuidv7(),
    quarantineId: uuidv7(),
    receivedAt: at.toISOString(),
    traceParent: ('traceParent' in request && request.traceParent) || traceParent(),
  };
}
