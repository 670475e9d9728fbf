import { z } from 'zod';
import {
  type StoredNotification as CoreStoredNotification,
  NotificationKind,
  StoredNotificationState,
} from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { time as timeField } from '../../resource/answer-fields.ts';
import { some, time } from '../../resource/core-messages.ts';
import { notificationKind } from '../../resource/delivery.ts';
import { FORMS, GRAMMAR } from '../../resource/notification-fields.ts';
import { uuid } from '../../resource/request-fields.ts';
import { merchantId } from '../fields.ts';

/** The requestId of a relayed notification, which its sender chose. */
export const senderRequestId = z
  .string()
  .regex(GRAMMAR.requestId, FORMS.requestId)
  .meta({ examples: ['invoice-16'] });

/** Fields that a relayed notification carries or announces. */
export const relayedFields = {
  merchantId,
  requestId: z.string(),
  kind: notificationKind,
  statusInfo: z.string(),
  status: z.string().meta({ description: 'As signed' }),
  amount: z.string().meta({ description: 'The very characters that were signed' }),
  currency: z.string(),
};

/** An accepted notification beside a quarantined one with the same requestId. */
export const AcceptedNotification = z
  .object({ ...relayedFields, receivedAt: timeField('When it was accepted') })
  .meta({ id: 'AcceptedNotification', description: 'The other side of a notification that was set aside' });

/** An accepted notification and its state, without its body and signature. */
export const StoredNotification = AcceptedNotification.extend({
  state: z.enum(['PARKED', 'FORWARDED', 'NOT_FORWARDED']).meta({
    description:
      'PARKED: it waits for the merchant to have an internalUrl. FORWARDED: a delivery forwards it, or has done so. ' +
      'NOT_FORWARDED: it was purged while it was parked, or accepted by a version that did not park',
  }),
  deliveryId: uuid('delivery that forwards it').optional(),
}).meta({ id: 'StoredNotification', description: 'A verified notification that was accepted' });

/** An accepted notification of core's as JSON, with its state. */
export function storedJson(notification: CoreStoredNotification) {
  const state = StoredNotificationState[notification.state];
  return { ...acceptedJson(notification), state, deliveryId: some(notification.deliveryId) };
}

/** An accepted notification of core's as JSON. */
export function acceptedJson(notification: CoreStoredNotification) {
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
