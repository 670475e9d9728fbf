import { z } from 'zod';
import { QuarantinedNotificationSchema } from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { time } from '../../resource/answer-fields.ts';
import { messageJson } from '../../resource/core-messages.ts';
import { uuid } from '../../resource/request-fields.ts';
import { AcceptedNotification, relayedFields } from './stored-notification.ts';

/** State of a quarantined notification. */
export const quarantineState = z.enum(['HELD', 'RELEASED', 'DISCARDED']);

/** A quarantined notification, without its body and signature. */
export const QuarantinedNotification = z
  .object({
    quarantineId: uuid('notification that was set aside'),
    ...relayedFields,
    reason: z.enum(['CONFLICT', 'STATUS_INFO_CONTRADICTED']),
    state: quarantineState,
    receivedAt: time('When it was set aside'),
    decidedAt: time('When it was decided').optional(),
    deliveryId: uuid('delivery that forwards it').optional(),
    accepted: AcceptedNotification.optional(),
  })
  .meta({ id: 'QuarantinedNotification' });

/** A quarantined notification of core's as JSON. */
export const quarantinedJson = messageJson(QuarantinedNotification, QuarantinedNotificationSchema);
