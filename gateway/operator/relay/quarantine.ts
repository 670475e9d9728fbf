import { z } from 'zod';
import { QuarantineReason, QuarantineState } from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { READ, WRITE } from '../../http/problem-codes.ts';
import { pageOf } from '../../resource/answer-fields.ts';
import { answered, pageJson } from '../../resource/core-messages.ts';
import { NoBody, page, time, uuid } from '../../resource/request-fields.ts';
import { merchantId } from '../fields.ts';
import { operatorRoute } from '../route.ts';
import { QuarantinedNotification, quarantinedJson, quarantineReason, quarantineState } from './relayed-notification.ts';

const QuarantinePage = pageOf(QuarantinedNotification).meta({ id: 'QuarantinePage', description: 'Newest first' });

export const listQuarantine = operatorRoute({
  method: 'get',
  path: '/operator/relay/quarantine',
  tag: 'Operators: relay',
  summary: 'List verified notifications that were set aside',
  description:
    'Newest first. `reason` says what each contradicts; `accepted` is what was accepted under the same `requestId`.',
  query: z.strictObject({
    merchantId: merchantId.optional(),
    state: quarantineState.transform((name) => QuarantineState[name]).optional(),
    ...page,
  }),
  answers: { 200: { description: 'A page', schema: QuarantinePage } },
  codes: READ,
  handler: async ({ ctx, core, asOperator, query }) => {
    const { notifications, nextPageToken } = await core.notifications.listQuarantinedNotifications(query, asOperator);
    ctx.body = pageJson(notifications.map(quarantinedJson), nextPageToken);
  },
});

const common = {
  method: 'post',
  tag: 'Operators: relay',
  parameters: { quarantineId: uuid('notification that was set aside') },
  body: NoBody,
  answers: { 200: { description: 'It, as it is now', schema: QuarantinedNotification } },
  codes: [...WRITE, 'OPERATION_NOT_FOUND', 'RECONCILING'],
} as const;

export const releaseQuarantined = operatorRoute({
  ...common,
  path: '/operator/relay/quarantine/{quarantineId}/release',
  summary: 'Forward a notification that was set aside, once',
  description:
    "To the merchant's internal URL. Refused as INVALID_REQUEST when it was discarded or purged, or without an " +
    '`internalUrl`.',
  handler: async ({ ctx, core, asOperator, params }) => {
    const { notification } = await core.notifications.releaseQuarantinedNotification(params, asOperator);
    ctx.body = quarantinedJson(answered(notification));
  },
});

export const discardQuarantined = operatorRoute({
  ...common,
  path: '/operator/relay/quarantine/{quarantineId}/discard',
  summary: 'Decide that it is never forwarded',
  description: 'It stays in the list, as DISCARDED. Refused as INVALID_REQUEST when it was released.',
  handler: async ({ ctx, core, asOperator, params }) => {
    const { notification } = await core.notifications.discardQuarantinedNotification(params, asOperator);
    ctx.body = quarantinedJson(answered(notification));
  },
});

export const discardManyQuarantined = operatorRoute({
  method: 'post',
  path: '/operator/relay/quarantine/discard',
  tag: 'Operators: relay',
  summary: 'Decide that those of a merchant that match are never forwarded',
  description:
    'Takes at most 1 000 that were set aside, oldest first; filters are joined by AND. `more` says whether others may ' +
    'match; the same call again takes those.',
  body: z
    .strictObject({
      merchantId,
      reason: quarantineReason.transform((name) => QuarantineReason[name]).optional(),
      receivedFrom: time.optional(),
      receivedTo: time.optional(),
    })
    .meta({ id: 'DiscardQuarantined', description: 'Which to discard' }),
  answers: {
    200: {
      description: 'They are discarded',
      schema: z.object({ discardedCount: z.int().min(0), more: z.boolean() }).meta({ id: 'DiscardedQuarantined' }),
    },
  },
  codes: WRITE,
  handler: async ({ ctx, core, asOperator, body }) => {
    const { discardedCount, more } = await core.notifications.discardQuarantinedNotifications(body, asOperator);
    ctx.body = { discardedCount, more };
  },
});
