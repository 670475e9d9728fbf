import { status } from '@grpc/grpc-js';
import { Gather } from '../../platform/gather.ts';
import type { GrpcClient } from '../../platform/grpc-client.ts';
import { settlesWithin } from '../../platform/settles-within.ts';
import { traceParent } from '../../platform/tracing.ts';
import type {
  AcceptNotificationRequest,
  AcceptOutcome,
  NotificationService,
} from '../../proto/gen/holdfast/v1/notification_pb.js';
import { isServiceError } from '../http/problem.ts';

/** A verified notification. */
export type Acceptable = Omit<AcceptNotificationRequest, '$typeName' | '$unknown' | 'traceParent'>;

/** Stores a notification at core. Rejects when there is no result within 8 s. */
export type Accept = (notification: Acceptable) => Promise<AcceptOutcome>;

/** Gathers the notifications that arrive while calls are running into one call. */
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

/** The deadline counts from the submission, also for a notification that still waits for other calls. */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  if (!(await settlesWithin(WITHIN.timeoutMs, answer))) throw new Error('core did not answer in time');
  return answer;
}

/** Core rejects a whole batch when one notification in it is invalid; then each is sent alone. */
function isAboutOne(error: unknown): boolean {
  return isServiceError(error) && error.code === status.INVALID_ARGUMENT;
}

/** Senders such as the core's worker give up after 10 s; they get a 503 before. */
export const WITHIN = { timeoutMs: 8_000 } as const;
/** At most 64 MiB of bodies; the sender of one more is answered 503. */
const MAX_WAITING = 1_000;
/** This many of the largest bodies fit into 1 MiB, core's limit for a message. */
const MAX_BATCH = 15;
/**
 * With one lane a call that hangs would block all others; with more than two, fewer are read and verified while others
 * are stored (measured: a seventh more per second than with four).
 */
const LANES = 2;
