import { z } from 'zod';
import * as contract from '../../proto/gen/holdfast/v1/notification_pb.js';
import { WRITE_ONE } from '../http/problem-codes.ts';
import { answer, pageOf } from '../resource/answer.ts';
import { numberOf } from '../resource/contract-field.ts';
import { FORMS, GRAMMAR } from '../resource/identifiers.ts';
import { merchantId, NoBody, page, timeBefore, timeFrom } from '../resource/request-fields.ts';
import { FailurePage } from '../resource/verification-failure.ts';
import { operatorRoute } from './route.ts';

/** The requestId of a relayed notification, which its sender chose. */
const senderRequestId = z
  .string()
  .regex(GRAMMAR.requestId, FORMS.requestId)
  .meta({ examples: ['invoice-16'] });

const StoredNotification = answer('StoredNotification', contract.StoredNotificationSchema);
const StoredPage = pageOf('StoredPage', 'Newest first', StoredNotification, 'notifications');

const AcceptedNotification = answer('AcceptedNotification', contract.StoredNotificationSchema, {
  without: ['state', 'deliveryId'],
});

/** A quarantined notification, without body and signature, with the accepted one that has its requestId. */
const QuarantinedNotification = answer('QuarantinedNotification', contract.QuarantinedNotificationSchema, {
  parts: { accepted: AcceptedNotification },
});

const QuarantinePage = pageOf('QuarantinePage', 'Newest first', QuarantinedNotification, 'notifications');

const DiscardedQuarantined = answer('DiscardedQuarantined', contract.DiscardQuarantinedNotificationsResponseSchema);

export const NOTIFICATION_ROUTES = {
  listFailures: operatorRoute('relay', 'GET /operator/relay/failures', {
    summary: 'List what the relay could not verify',
    description:
      'Newest first; only the newest are kept. Neither the body nor the signature is stored, and the merchant is ' +
      'only claimed.',
    query: z.strictObject({
      claimedMerchantId: merchantId.optional(),
      reason: numberOf(contract.VerificationFailureReasonSchema).optional(),
      ...page,
    }),
    answers: { 200: { description: 'A page', schema: FailurePage.schema } },
    handler: async ({ core, asOperator, query }) =>
      FailurePage.json(await core.notifications.listVerificationFailures(query, asOperator)),
  }),
  listStored: operatorRoute('relay', 'GET /operator/relay/notifications', {
    summary: 'List notifications that the relay has accepted',
    description: 'Newest first. A notification whose body was purged is shown only when its requestId is given.',
    query: z.strictObject({
      merchantId: merchantId.optional(),
      requestId: senderRequestId.meta({ description: 'Only this one; merchantId must be given, too' }).optional(),
      state: z
        .enum(['PARKED'])
        .meta({ description: 'Only those that wait' })
        .transform((state) => contract.StoredNotificationState[state])
        .optional(),
      ...page,
    }),
    answers: { 200: { description: 'A page', schema: StoredPage.schema } },
    handler: async ({ core, asOperator, query }) =>
      StoredPage.json(await core.notifications.listStoredNotifications(query, asOperator)),
  }),
  replayStored: operatorRoute('relay', 'POST /operator/relay/notifications/replay', {
    again: 'forwards it once more',
    summary: 'Forward an accepted notification, again if it was forwarded before',
    description:
      "To the merchant's internal URL, with the `webhook-id` that it had. Refused as INVALID_REQUEST when its body " +
      'was purged, or without an `internalUrl`.',
    body: z
      .strictObject({ merchantId, requestId: senderRequestId })
      .meta({ id: 'ReplayStored', description: 'Names a notification that was accepted' }),
    answers: { 200: { description: 'It, as it is now', schema: StoredNotification.schema } },
    codes: WRITE_ONE,
    handler: async ({ core, asOperator, body }) =>
      StoredNotification.json((await core.notifications.replayStoredNotification(body, asOperator)).notification),
  }),
  listQuarantine: operatorRoute('relay', 'GET /operator/relay/quarantine', {
    summary: 'List verified notifications that were set aside',
    description:
      'Newest first. `reason` says what each contradicts; `accepted` is what was accepted under the same `requestId`.',
    query: z.strictObject({
      merchantId: merchantId.optional(),
      state: numberOf(contract.QuarantineStateSchema).optional(),
      ...page,
    }),
    answers: { 200: { description: 'A page', schema: QuarantinePage.schema } },
    handler: async ({ core, asOperator, query }) =>
      QuarantinePage.json(await core.notifications.listQuarantinedNotifications(query, asOperator)),
  }),
  releaseQuarantined: decidesQuarantined(
    'release',
    'Forward a notification that was set aside, once',
    "To the merchant's internal URL. Refused as INVALID_REQUEST when it was discarded or purged, or without an " +
      '`internalUrl`.',
  ),
  discardQuarantined: decidesQuarantined(
    'discard',
    'Decide that it is never forwarded',
    'It stays in the list, as DISCARDED. Refused as INVALID_REQUEST when it was released.',
  ),
  discardManyQuarantined: operatorRoute('relay', 'POST /operator/relay/quarantine/discard', {
    again: 'takes the next ones that match',
    summary: 'Decide that those of a merchant that match are never forwarded',
    description:
      'Takes at most 1 000 that were set aside, oldest first; filters are joined by AND. `more` says whether others ' +
      'may match; the same call again takes those.',
    body: z
      .strictObject({
        merchantId,
        reason: numberOf(contract.QuarantineReasonSchema).optional(),
        receivedFrom: timeFrom.optional(),
        receivedTo: timeBefore.optional(),
      })
      .meta({ id: 'DiscardQuarantined', description: 'Which to discard' }),
    answers: { 200: { description: 'They are discarded', schema: DiscardedQuarantined.schema } },
    handler: async ({ core, asOperator, body }) =>
      DiscardedQuarantined.json(await core.notifications.discardQuarantinedNotifications(body, asOperator)),
  }),
} as const;

function decidesQuarantined(act: 'release' | 'discard', summary: string, description: string) {
  return operatorRoute('relay', `POST /operator/relay/quarantine/{quarantineId}/${act}`, {
    again: 'changes nothing more',
    summary,
    description,
    body: NoBody,
    answers: { 200: { description: 'It, as it is now', schema: QuarantinedNotification.schema } },
    handler: async ({ core, asOperator, params }) =>
      QuarantinedNotification.json(
        (await core.notifications[`${act}QuarantinedNotification`](params, asOperator)).notification,
      ),
  });
}
