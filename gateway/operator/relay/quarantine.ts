import { z } from 'zod';
import {
  DiscardQuarantinedNotificationsResponseSchema,
  QuarantinedNotificationSchema,
  QuarantineReasonSchema,
  QuarantineStateSchema,
  StoredNotificationSchema,
} from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { WRITE } from '../../http/problem-codes.ts';
import { answer, pageOf } from '../../resource/answer.ts';
import { numberOf } from '../../resource/contract-field.ts';
import { merchantId, NoBody, page, time, uuid } from '../../resource/request-fields.ts';
import { operatorRoute } from '../route.ts';

/** The accepted notification beside a quarantined one that has its requestId. */
const AcceptedNotification = answer('AcceptedNotification', StoredNotificationSchema, {
  without: ['state', 'deliveryId'],
});

/** A quarantined notification, without its body and signature, beside the accepted one that has its requestId. */
const QuarantinedNotification = answer('QuarantinedNotification', QuarantinedNotificationSchema, {
  parts: { accepted: AcceptedNotification },
});

const QuarantinePage = pageOf('QuarantinePage', 'Newest first', QuarantinedNotification, 'notifications');

export const listQuarantine = operatorRoute({
  path: '/operator/relay/quarantine',
  tag: 'Operators: relay',
  summary: 'List verified notifications that were set aside',
  description:
    'Newest first. `reason` says what each contradicts; `accepted` is what was accepted under the same `requestId`.',
  query: z.strictObject({
    merchantId: merchantId.optional(),
    state: numberOf(QuarantineStateSchema).optional(),
    ...page,
  }),
  answers: { 200: { description: 'A page', schema: QuarantinePage.schema } },
  handler: async ({ core, asOperator, query }) =>
    QuarantinePage.json(await core.notifications.listQuarantinedNotifications(query, asOperator)),
});

export const releaseQuarantined = decidesQuarantined(
  'release',
  'Forward a notification that was set aside, once',
  "To the merchant's internal URL. Refused as INVALID_REQUEST when it was discarded or purged, or without an " +
    '`internalUrl`.',
);

export const discardQuarantined = decidesQuarantined(
  'discard',
  'Decide that it is never forwarded',
  'It stays in the list, as DISCARDED. Refused as INVALID_REQUEST when it was released.',
);

function decidesQuarantined(act: 'release' | 'discard', summary: string, description: string) {
  return operatorRoute({
    method: 'post',
    path: `/operator/relay/quarantine/{quarantineId}/${act}`,
    tag: 'Operators: relay',
    summary,
    description,
    parameters: { quarantineId: uuid('notification that was set aside') },
    body: NoBody,
    answers: { 200: { description: 'It, as it is now', schema: QuarantinedNotification.schema } },
    codes: [...WRITE, 'OPERATION_NOT_FOUND', 'RECONCILING'],
    handler: async ({ core, asOperator, params }) =>
      QuarantinedNotification.json(
        (await core.notifications[`${act}QuarantinedNotification`](params, asOperator)).notification,
      ),
  });
}

const DiscardedQuarantined = answer('DiscardedQuarantined', DiscardQuarantinedNotificationsResponseSchema);

export const discardManyQuarantined = operatorRoute({
  method: 'post',
  path: '/operator/relay/quarantine/discard',
  tag: 'Operators: relay',
  summary: 'Decide that those of a merchant that match are never forwarded',
  description:
    'Takes at most 1 000 that were set aside, oldest first; filters are joined by AND. `more` says whether others ' +
    'may match; the same call again takes those.',
  body: z
    .strictObject({
      merchantId,
      reason: numberOf(QuarantineReasonSchema).optional(),
      receivedFrom: time.optional(),
      receivedTo: time.optional(),
    })
    .meta({ id: 'DiscardQuarantined', description: 'Which to discard' }),
  answers: { 200: { description: 'They are discarded', schema: DiscardedQuarantined.schema } },
  codes: WRITE,
  handler: async ({ core, asOperator, body }) =>
    DiscardedQuarantined.json(await core.notifications.discardQuarantinedNotifications(body, asOperator)),
});
