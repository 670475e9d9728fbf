import { z } from 'zod';
import { StoredNotificationSchema, StoredNotificationState } from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { WRITE } from '../../http/problem-codes.ts';
import { answer, pageOf } from '../../resource/answer.ts';
import { FORMS, GRAMMAR } from '../../resource/identifiers.ts';
import { merchantId, page } from '../../resource/request-fields.ts';
import { operatorRoute } from '../route.ts';

/** The requestId of a relayed notification, which its sender chose. */
const senderRequestId = z
  .string()
  .regex(GRAMMAR.requestId, FORMS.requestId)
  .meta({ examples: ['invoice-16'] });

/** An accepted notification and its state, without its body and signature. */
const StoredNotification = answer('StoredNotification', StoredNotificationSchema);

const StoredPage = pageOf('StoredPage', 'Newest first', StoredNotification, 'notifications');

export const listStored = operatorRoute({
  path: '/operator/relay/notifications',
  tag: 'Operators: relay',
  summary: 'List notifications that the relay has accepted',
  description: 'Newest first. One whose body was purged is shown only when its requestId is asked for.',
  query: z.strictObject({
    merchantId: merchantId.optional(),
    requestId: senderRequestId.meta({ description: 'Only this one; merchantId must be given, too' }).optional(),
    state: z
      .enum(['PARKED'])
      .meta({ description: 'Only those that wait' })
      .transform((state) => StoredNotificationState[state])
      .optional(),
    ...page,
  }),
  answers: { 200: { description: 'A page', schema: StoredPage.schema } },
  handler: async ({ core, asOperator, query }) =>
    StoredPage.json(await core.notifications.listStoredNotifications(query, asOperator)),
});

export const replayStored = operatorRoute({
  method: 'post',
  path: '/operator/relay/notifications/replay',
  tag: 'Operators: relay',
  summary: 'Forward an accepted notification, again if it was forwarded before',
  description:
    "To the merchant's internal URL, with the `webhook-id` that it had. Refused as INVALID_REQUEST when its body " +
    'was purged, or without an `internalUrl`.',
  body: z
    .strictObject({ merchantId, requestId: senderRequestId })
    .meta({ id: 'ReplayStored', description: 'Names a notification that was accepted' }),
  answers: { 200: { description: 'It, as it is now', schema: StoredNotification.schema } },
  codes: [...WRITE, 'OPERATION_NOT_FOUND', 'RECONCILING'],
  handler: async ({ core, asOperator, body }) =>
    StoredNotification.json((await core.notifications.replayStoredNotification(body, asOperator)).notification),
});
