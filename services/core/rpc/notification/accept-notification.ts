import type { MethodImpl } from '@connectrpc/connect';
import type { NotificationService } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import type { Accept } from './accept.ts';

/** Stores a notification that the relay has verified, and has it forwarded. It never changes a hold, a capture or an OCT. */
export function acceptNotification(accept: Accept): MethodImpl<typeof NotificationService.method.acceptNotification> {
  return async (request) => ({ outcome: await accept(request) });
}
