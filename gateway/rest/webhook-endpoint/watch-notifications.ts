import { z } from 'zod';
import type { WatchNotificationsResponse } from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { eventStream, type Feed, LAST_EVENT_ID, streamEvents } from '../../event-stream/event-stream.ts';
import { MANAGED_READ } from '../../http/problem-codes.ts';
import { identityOf } from '../authenticate.ts';
import { restRoute } from '../route.ts';

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

export const watchNotifications = restRoute({
  path: '/notifications/stream',
  tag: 'Webhook',
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
});
