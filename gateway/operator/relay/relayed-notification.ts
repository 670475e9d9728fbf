import { z } from 'zod';
import {
  QuarantinedNotificationSchema,
  StoredNotificationSchema,
} from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { time } from '../../resource/answer-fields.ts';
import { messageJson } from '../../resource/core-messages.ts';
import { notificationKind } from '../../resource/delivery.ts';
import { FORMS, GRAMMAR } from '../../resource/identifiers.ts';
import { uuid } from '../../resource/request-fields.ts';
import { merchantId } from '../fields.ts';

/** The requestId of a relayed notification, which its sender chose. */
export const senderRequestId = z
  .string()
  .regex(GRAMMAR.requestId, FORMS.requestId)
  .meta({ examples: ['invoice-16'] });

/** Fields that a relayed notification carries or announces. */
const relayedFields = {
  merchantId,
  requestId: z.string(),
  kind: notificationKind,
  statusInfo: z.string(),
  status: z.string().meta({ description: 'As signed' }),
  amount: z.string().meta({ description: 'The very characters that were signed' }),
  currency: z.string(),
};

/** An accepted notification beside a quarantined one with the same requestId. */
const AcceptedNotification = z
  .object({ ...relayedFields, receivedAt: time('When it was accepted') })
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
export const storedJson = messageJson(StoredNotification, StoredNotificationSchema);

/** State of a quarantined notification. */
export const quarantineState = z.enum(['HELD', 'RELEASED', 'DISCARDED']);

/** Why a notification was quarantined. */
export const quarantineReason = z.enum(['CONFLICT', 'STATUS_INFO_CONTRADICTED']);

/** A quarantined notification, without its body and signature. */
export const QuarantinedNotification = z
  .object({
    quarantineId: uuid('notification that was set aside'),
    ...relayedFields,
    reason: quarantineReason,
    state: quarantineState,
    receivedAt: time('When it was set aside'),
    decidedAt: time('When it was decided').optional(),
    deliveryId: uuid('delivery that forwards it').optional(),
    accepted: AcceptedNotification.optional(),
  })
  .meta({ id: 'QuarantinedNotification' });

/** A quarantined notification of core's as JSON. */
export const quarantinedJson = messageJson(QuarantinedNotification, QuarantinedNotificationSchema);
