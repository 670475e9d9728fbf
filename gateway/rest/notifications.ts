import { z } from 'zod';
import type { WatchNotificationsResponse } from '../../proto/gen/holdfast/v1/notification_pb.js';
import { eventStream, type Feed, LAST_EVENT_ID, streamEvents } from '../event-stream/event-stream.ts';
import { MANAGED_READ } from '../http/problem-codes.ts';
import * as delivery from '../resource/delivery.ts';
import { ownMerchantId } from '../resource/request-fields.ts';
import { identityOf } from './authenticate.ts';
import { NoFields, restRoute } from './route.ts';

const SignedNotification = z
  .object({
    path: z.string().meta({
      description: "What a delivery appends to the webhook's address",
      examples: ['/webhook/processor/payment/captured'],
    }),
    headers: z
      .record(z.string(), z.string())
      .describe('The headers that a delivery always has, by name in lower case; both signatures are among them'),
    body: z.string().describe('The body as it is sent and signed'),
  })
  .meta({ id: 'SignedNotification', description: 'A notification as an attempt would send it now' });

const NOTIFICATIONS: Feed<WatchNotificationsResponse> = {
  event: 'notification',
  watch: (core, request, call) => core.notifications.watchNotifications(request, call),
  dataOf: ({ notification }) => {
    if (!notification) return undefined;
    const { path, headers, body } = notification;
    return { path, headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])), body };
  },
};

export const NOTIFICATION_ROUTES = {
  watchNotifications: restRoute('Webhook', 'GET /notifications/stream', {
    scope: 'webhook',
    summary: 'Follow notifications as they would be sent now',
    description:
      'Server-Sent Events: `event: notification`, `data:` a SignedNotification in JSON, `id:` the token to resume ' +
      'from. Each notification of the merchant, also while it has no `webhookUrl`, in commit order and none skipped; ' +
      'test notifications are not among them. The endpoint, its deliveries and their attempts stay as they are, and ' +
      'nothing is stored. Tokens, comments and limits are those of `GET /operations/stream`.',
    headers: LAST_EVENT_ID,
    answers: { 200: eventStream(SignedNotification) },
    codes: [...MANAGED_READ, 'STREAM_TOKEN_TOO_OLD'],
    handler: async ({ ctx, asKey, ...call }) => {
      const { apiKeyHash: credential, ...identity } = identityOf(ctx);
      await streamEvents(ctx, call, { ...identity, ...asKey, credential }, NOTIFICATIONS);
    },
  }),
  listOwnDeliveries: restRoute('Webhook', 'GET /deliveries', {
    scope: 'webhook',
    summary: 'List deliveries of notifications, newest first',
    description: 'Filters are joined by AND.',
    query: delivery.DeliveryFilters,
    answers: { 200: { description: 'A page', schema: delivery.DeliveryPage.schema } },
    codes: MANAGED_READ,
    handler: ({ core, merchantId, asKey, query }) => delivery.deliveryPage(core, { ...query, merchantId }, asKey),
  }),
  getOwnDelivery: restRoute('Webhook', 'GET /deliveries/{deliveryId}', {
    scope: 'webhook',
    summary: 'Look up a delivery with its attempts, what it sends and where, and what it is about',
    description:
      'The newest attempts first by page, the oldest first in a page. `content` is byte for byte what an attempt ' +
      'would send now, tokens included.',
    query: delivery.AttemptsPage,
    answers: { 200: { description: 'The delivery', schema: delivery.WholeDelivery.schema } },
    codes: [...MANAGED_READ, 'OPERATION_NOT_FOUND', 'RECONCILING'],
    handler: async ({ core, merchantId, asKey, params, query }) =>
      delivery.WholeDelivery.json(await core.notifications.getDelivery({ ...params, ...query, merchantId }, asKey)),
  }),
  replayOwnDelivery: restRoute('Webhook', 'POST /deliveries/{deliveryId}/replay', {
    scope: 'webhook',
    again: 'sends it once more',
    summary: 'Send a delivery again',
    description:
      'With the `webhook-id` that it had and a new schedule of attempts, to the address that the webhook has now. ' +
      'One that waits for its next attempt gets it at once. Refused as INVALID_REQUEST when its body was purged or ' +
      'it had 200 attempts, and as RATE_LIMITED above 60 replays a minute.',
    body: NoFields,
    answers: { 200: { description: 'The delivery as it is now', schema: delivery.DeliveryWithAttempts.schema } },
    handler: async ({ core, merchantId, asKey, params }) =>
      delivery.DeliveryWithAttempts.json(
        (await core.notifications.replayDelivery({ ...params, merchantId }, asKey)).delivery,
      ),
  }),
  recoverOwnDeliveries: restRoute('Webhook', 'POST /deliveries/recover', {
    scope: 'webhook',
    again: 'changes nothing more',
    summary: 'Send what was not delivered in a time now',
    description: `${delivery.RECOVER_DESCRIPTION} Refused as RATE_LIMITED above 6 times a minute.`,
    body: z
      .strictObject({ merchantId: ownMerchantId, ...delivery.recoverFields })
      .meta({ id: 'RecoverDeliveries', description: 'Makes due now what was not delivered' }),
    answers: { 202: { description: 'They wait for their attempts', schema: delivery.RecoveredDeliveries } },
    handler: async ({ core, merchantId, asKey, body }) => {
      const { count } = await core.notifications.recoverDeliveries({ ...body, merchantId }, asKey);
      return { count };
    },
  }),
} as const;
