import { setTimeout as delay } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { errorFields, type Log } from '../../platform/log.ts';
import { errorInfoOf, isServiceError } from '../http/problem.ts';

const RECONNECT_MS = { first: 100, most: 2_000 } as const;

/** Number of tries to open a connection that breaks before its first message. */
const MOST_TRIES = 3;

/** Errors that a retry does not mend. */
const FINAL: readonly number[] = [
  status.OUT_OF_RANGE,
  status.INVALID_ARGUMENT,
  status.UNAUTHENTICATED,
  status.PERMISSION_DENIED,
];

/** A message of a stream of core's. */
export interface FeedMessage {
  /** Resume after this message; empty = it cannot be resumed from. */
  readonly resumeToken: string;
}

/**
 * A stream of core's without a gap: when it breaks, it resumes from the last resume token, or starts again when there
 * was none. Reads from core only as fast as it is consumed. Throws ServiceError when core refuses the stream before its
 * first message; later it ends when it cannot resume without a gap, and the client has to reconnect. Also ends when
 * `signal` aborts.
 */
export async function* followFeed<M extends FeedMessage>(
  open: (resumeToken: string) => AsyncIterable<M>,
  from: { merchantId: string; resumeToken: string },
  signal: AbortSignal,
  log: Log,
): AsyncGenerator<M> {
  let { resumeToken } = from;
  let isOpen = false;
  let tries = 0;
  let waitMs: number = RECONNECT_MS.first;
  while (!signal.aborted) {
    try {
      for await (const message of open(resumeToken)) {
        isOpen = true;
        waitMs = RECONNECT_MS.first;
        resumeToken = message.resumeToken || resumeToken;
        yield message;
      }
      if (resumeToken === '') return;
    } catch (error) {
      if (signal.aborted) return;
      const canResume = isServiceError(error) && !FINAL.includes(error.code);
      const isRefusal = !canResume || errorInfoOf(error) !== undefined;
      if (!isOpen && (isRefusal || ++tries > MOST_TRIES)) throw error;
      log.warn('feed lost', { merchantId: from.merchantId, ...errorFields(error) });
      if (!canResume) return;
    }
    await delay(waitMs, undefined, { signal }).catch(() => undefined);
    waitMs = Math.min(waitMs * 2, RECONNECT_MS.most);
  }
}
