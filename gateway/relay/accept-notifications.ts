import { status } from '@grpc/grpc-js';
import { Gather } from '../../proto/gather.ts';
import type {
  AcceptNotificationRequest,
  AcceptOutcome,
  NotificationService,
} from '../../proto/gen/holdfast/v1/notification_pb.js';
import type { GrpcClient } from '../../proto/grpc.ts';
import { traceParent } from '../../proto/tracing.ts';
import { isServiceError } from '../problem.ts';

/** A verified notification. */
export type Acceptable = Omit<AcceptNotificationRequest, '$typeName' | '$unknown' | 'traceParent'>;

/** Has core store a notification; answers what became of it. Rejects when nothing is known of it within 8 s. */
export type Accept = (notification: Acceptable) => Promise<AcceptOutcome>;

/** Those that come in while calls are under way go to core together. */
export function openAccept(
  notifications: Pick<GrpcClient<typeof NotificationService>, 'acceptNotification' | 'batchAcceptNotifications'>,
): Accept {
  const gather = new Gather<Acceptable & { readonly traceParent: string }, AcceptOutcome>(
    async (batch) => {
      const [first] = batch;
      if (first && batch.length === 1) return [(await notifications.acceptNotification(first, WITHIN)).outcome];
      const { responses } = await notifications.batchAcceptNotifications({ requests: [...batch] }, WITHIN);
      return batch.map((_, index) => responses[index]?.outcome ?? 0);
    },
    { maxBatch: MAX_BATCH, lanes: LANES, isAboutOne, maxWaiting: MAX_WAITING },
  );
  return (notification) => inTime(gather.submit({ ...notification, traceParent: traceParent() ?? '' }));
}

/** Whoever waits behind calls that hang is told as soon as if his own did. */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error('core did not answer in time')), WITHIN.timeoutMs);
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Core refuses a call as a whole for what is wrong with one of it. */
function isAboutOne(error: unknown): boolean {
  return isServiceError(error) && error.code === status.INVALID_ARGUMENT;
}

/** Senders such as our own worker give up after 10 s: they shall hear a 503 before. */
export const WITHIN = { timeoutMs: 8_000 } as const;
/** At most 64 MiB of bodies; the sender of one more is answered 503. */
const MAX_WAITING = 1_000;
/** So many of the largest bodies fit into a message of 1 MiB, and core takes no more. */
const MAX_BATCH = 15;
/**
 * More than one, so that a call that hangs holds up those behind it no longer than it must; no more, so that some are read and
 * verified while others are stored (measured: a seventh more a second than with four).
 */
const LANES = 2;
