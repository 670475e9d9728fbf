import { status } from '@grpc/grpc-js';
import type { WatchOperationsResponse } from '../../proto/gen/holdfast/v1/operation_pb.js';
import type { GrpcCall } from '../../proto/grpc.ts';
import { errorFields, type Log } from '../../proto/log.ts';
import type { Core } from '../core.ts';
import { pause } from '../pause.ts';
import { errorInfoOf, isServiceError } from '../problem.ts';

const RECONNECT_MS = { first: 100, most: 2_000 } as const;

/** A connection that breaks before the first message is tried again so often. */
const MOST_TRIES = 3;

/** What no second try mends. */
const FINAL: readonly number[] = [
  status.OUT_OF_RANGE,
  status.INVALID_ARGUMENT,
  status.UNAUTHENTICATED,
  status.PERMISSION_DENIED,
];

/**
 * A merchant's results from core, without a gap: when the stream is lost, it goes on from the last resume token, or begins again when there was none. Reads
 * only as fast as it is read. Throws ServiceError when core refuses the stream before its first message; later it ends
 * when it cannot go on without a gap, and whoever listens resumes by himself. Ends, too, with `signal`.
 */
export async function* followOperations(
  core: Pick<Core, 'operations'>,
  from: { merchantId: string; resumeToken: string; metadata?: NonNullable<GrpcCall['metadata']> },
  signal: AbortSignal,
  log: Log,
): AsyncGenerator<WatchOperationsResponse> {
  let { resumeToken } = from;
  let isOpen = false;
  let tries = 0;
  let waitMs: number = RECONNECT_MS.first;
  while (!signal.aborted) {
    try {
      const request = { merchantId: from.merchantId, resumeToken };
      for await (const message of core.operations.watchOperations(request, { signal, metadata: from.metadata ?? {} })) {
        isOpen = true;
        waitMs = RECONNECT_MS.first;
        resumeToken = message.resumeToken || resumeToken;
        yield message;
      }
      if (resumeToken === '') return;
    } catch (error) {
      if (signal.aborted) return;
      const isBroken = isServiceError(error) && !FINAL.includes(error.code) && errorInfoOf(error) === undefined;
      if (!isOpen && (!isBroken || ++tries > MOST_TRIES)) throw error;
      log.warn('operations feed lost', { merchantId: from.merchantId, ...errorFields(error) });
      if (!isServiceError(error) || FINAL.includes(error.code)) return;
    }
    await pause(waitMs, signal);
    waitMs = Math.min(waitMs * 2, RECONNECT_MS.most);
  }
}
