import { create } from '@bufbuild/protobuf';
import { WatchNotificationsResponseSchema } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import type { Method } from '../core.ts';
import { followLog } from '../operation/follow-log.ts';
import { tokenOf } from '../operation/stream-token.ts';

/**
 * Streams a merchant's notifications in commit order, signed as they are sent. One that has a delivery is what its next
 * attempt would send; one without is made from the books, and its requestId is its webhook-id. Errors:
 * STREAM_TOKEN_TOO_OLD, INVALID_REQUEST, as followLog() says.
 */
export const watchNotifications: Method<'watchNotifications'> = async function* (core, request, { signal }) {
  const { merchantId } = request;
  for await (const { rows, position } of followLog(core, core.feed, request, signal)) {
    const mine = rows.filter((result) => result.merchantId === merchantId);
    for (const index of mine.keys()) {
      const message = await core.notifications.at(merchantId, mine, index);
      if (message) yield message;
      if (signal.aborted) return;
    }
    if (rows.length === 0)
      yield create(WatchNotificationsResponseSchema, { resumeToken: tokenOf(position, merchantId, core.cipher) });
  }
};
