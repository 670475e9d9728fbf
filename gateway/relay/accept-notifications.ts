import { status } from '@grpc/grpc-js';
import { Gather } from '../../platform/gather.ts';
import type { GrpcClient } from '../../platform/grpc-client.ts';
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
  const gather = new Gather<Waiting, AcceptOutcome>(
    async (batch) => {
      const [first] = batch as readonly [Waiting];
      // The deadline of the one that has waited longest, so none is answered late.
      const within = { timeoutMs: Math.max(1, first.endsAtMs - Date.now()) };
      if (batch.length === 1) return [(await notifications.acceptNotification(first, within)).outcome];
      const { responses } = await notifications.batchAcceptNotifications({ requests: [...batch] }, within);
      return batch.map((_, index) => responses[index]?.outcome ?? 0);
    },
    { maxBatch: MAX_BATCH, lanes: LANES, isAboutOne, maxWaiting: MAX_WAITING, maxWaitMs: WITHIN.timeoutMs },
  );
  return (notification) =>
    gather.submit({ ...notification, traceParent: traceParent() ?? '', endsAtMs: Date.now() + WITHIN.timeoutMs });
}

/** A notification with its deadline, which counts from the submission. */
type Waiting = Acceptable & { readonly traceParent: string; readonly endsAtMs: number };

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
