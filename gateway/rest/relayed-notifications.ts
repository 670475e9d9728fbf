import { z } from 'zod';
import {
  type VerifiedNotification as Message,
  VerifiedNotificationSchema,
  type WatchRelayedNotificationsResponse,
} from '../../proto/gen/holdfast/v1/relay_pb.js';
import { eventStream, type Feed, LAST_EVENT_ID, streamEvents } from '../event-stream/event-stream.ts';
import { MANAGED_READ } from '../http/problem-codes.ts';
import { answer } from '../resource/answer.ts';
import { ofSender } from '../resource/request-fields.ts';
import { identityOf } from './authenticate.ts';
import { restRoute } from './route.ts';

/** JSON has no bytes, and a sender's body need not be text. */
const VerifiedNotification = answer('VerifiedNotification', VerifiedNotificationSchema, {
  without: ['body', 'headers'],
  own: {
    body: {
      schema: z.base64().describe('The body as received, byte for byte, in Base64; empty once it was purged'),
      read: ({ body }) => Buffer.from(body).toString('base64'),
    },
    headers: {
      schema: z
        .record(z.string(), z.string())
        .describe(
          "The headers that are forwarded, by name in lower case; none under the merchant's own secrets, whose body is JSON",
        ),
      read: ({ headers }: Message) => Object.fromEntries(headers.map(({ name, value }) => [name, value])),
    },
  },
});

/** What the relay has verified: an event for each notification, of any sender or of one. */
function relayedOf(sender: string | undefined): Feed<WatchRelayedNotificationsResponse> {
  return {
    event: 'notification',
    watch: (core, request, call) =>
      core.relay.watchRelayedNotifications({ ...request, ...(sender && { senderId: sender }) }, call),
    dataOf: ({ notification }) => notification && VerifiedNotification.json(notification),
  };
}

export const RELAYED_NOTIFICATION_ROUTES = {
  watchRelayedNotifications: restRoute('Relay', 'GET /relayed-notifications/stream', {
    scope: 'webhook',
    summary: 'Follow what the relay has verified',
    description:
      'Server-Sent Events: `event: notification`, `data:` a VerifiedNotification in JSON, `id:` the token to resume ' +
      'from. Each notification of the merchant that was answered 200, in the order in which they were stored and none ' +
      'skipped, whether or not it is forwarded; what waits in quarantine, or was released from it, is not among them. ' +
      'There is no signature: the relay has verified it. Comments and limits are those of `GET /operations/stream`.',
    headers: LAST_EVENT_ID,
    query: z.strictObject({ senderId: ofSender }),
    answers: { 200: eventStream(VerifiedNotification.schema) },
    codes: [...MANAGED_READ, 'STREAM_TOKEN_TOO_OLD'],
    handler: async ({ ctx, asKey, query, ...call }) => {
      const { apiKeyHash: credential, ...identity } = identityOf(ctx);
      await streamEvents(ctx, call, { ...identity, ...asKey, credential }, relayedOf(query.senderId));
    },
  }),
} as const;
