import { z } from 'zod';
import {
  QuarantinedNotificationSchema,
  StoredNotificationSchema,
} from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { answer } from '../../resource/answer.ts';
import { FORMS, GRAMMAR } from '../../resource/identifiers.ts';

/** The requestId of a relayed notification, which its sender chose. */
export const senderRequestId = z
  .string()
  .regex(GRAMMAR.requestId, FORMS.requestId)
  .meta({ examples: ['invoice-16'] });

/** An accepted notification and its state, without its body and signature. */
export const StoredNotification = answer('StoredNotification', StoredNotificationSchema);

/** The accepted notification beside a quarantined one that has its requestId. */
const AcceptedNotification = answer('AcceptedNotification', StoredNotificationSchema, {
  without: ['state', 'deliveryId'],
});

/** A quarantined notification, without its body and signature, beside the accepted one that has its requestId. */
export const QuarantinedNotification = answer('QuarantinedNotification', QuarantinedNotificationSchema, {
  parts: { accepted: AcceptedNotification },
});
