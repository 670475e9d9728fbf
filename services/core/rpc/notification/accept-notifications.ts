import { errorFields } from '../../../../platform/log.ts';
import { AcceptOutcome } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import type { Method } from '../core.ts';

/**
 * Stores a notification that the relay has verified, and has it forwarded. It never changes a hold, a capture or an
 * OCT.
 */
export const acceptNotification: Method<'acceptNotification'> = async (core, request) => ({
  outcome: await core.accept(request),
});

/**
 * Accepts several notifications; the outcome of one that could not be stored is UNSPECIFIED. Throws when none could be
 * stored.
 */
export const batchAcceptNotifications: Method<'batchAcceptNotifications'> = async ({ accept, log }, { requests }) => {
  const ends = await Promise.allSettled(requests.map(accept));
  const [failure, ...others] = ends.filter((end) => end.status === 'rejected');
  if (failure && others.length === ends.length - 1) throw failure.reason;
  if (failure) log.error('notifications_not_stored', { ...errorFields(failure.reason) });
  return {
    responses: ends.map((end) => ({ outcome: end.status === 'fulfilled' ? end.value : AcceptOutcome.UNSPECIFIED })),
  };
};
