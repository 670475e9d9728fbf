import { z } from 'zod';
import {
  type QuarantinedNotification as CoreQuarantinedNotification,
  NotificationKind,
  QuarantineReason,
  QuarantineState,
} from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { time as timeField } from '../../resource/answer-fields.ts';
import { some, time } from '../../resource/core-messages.ts';
import { uuid } from '../../resource/request-fields.ts';
import { AcceptedNotification, acceptedJson, relayedFields } from './stored-notification.ts';

/** State of a quarantined notification. */
export const quarantineState = z.enum(['HELD', 'RELEASED', 'DISCARDED']);

/** A quarantined notification, without its body and signature. */
export const QuarantinedNotification = z
  .object({
    quarantineId: uuid('notification that was set aside'),
    ...relayedFields,
    reason: z.enum(['CONFLICT', 'STATUS_INFO_CONTRADICTED']),
    state: quarantineState,
    receivedAt: timeField('When it was set aside'),
    decidedAt: timeField('When it was decided').optional(),
    deliveryId: uuid('delivery that forwards it').optional(),
    accepted: AcceptedNotification.optional(),
  })
  .meta({ id: 'QuarantinedNotification' });

/** A quarantined notification of core's as JSON. */
export function quarantinedJson(notification: CoreQuarantinedNotification) {
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
