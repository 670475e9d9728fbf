import type { HandlerContext } from '@connectrpc/connect';
import type { WatchOperationsRequest } from '../../../../proto/gen/holdfast/v1/operation_pb.js';
import { HoldfastError } from '../../domain/refusal.ts';
import { HistoryChanged } from '../../feeds/operation-feed.ts';
import type { LogPosition, OperationRow } from '../../storage/operation/operation-row.ts';
import type { Core, Method } from '../core.ts';
import { scopeOf } from '../server/caller.ts';
import { heartbeat, markOf, messagesAbout, readToken } from './watch-messages.ts';

/** A heartbeat carries the newest resume token, so that a quiet stream resumes near its end. */
const HEARTBEAT_MS = 5_000;
/** Results older than this cannot be resumed from: a consumer that was away so long has to list. */
const RESUMABLE_MS = 90 * 24 * 3_600 * 1_000;

/**
 * Streams results in commit order, for one merchant or all. The first message is a heartbeat with the token of the starting
 * point. Errors: STREAM_TOKEN_TOO_OLD, also for a token of a history that a restore has undone; INVALID_REQUEST for what is no token.
 */
export const watchOperations: Method<'watchOperations'> = async function* (core, request, context) {
  const merchantId = scopeOf(context, request.merchantId);
  let cursor = await startOf(core, request);
  yield heartbeat(cursor);
  let heartbeatAt = Date.now() + HEARTBEAT_MS;
  while (!gone(context)) {
    const results = await resultsAfter(core, cursor);
    const mine = merchantId === undefined ? results : results.filter((result) => result.merchantId === merchantId);
    for (const message of messagesAbout(mine, request.maxBatchSize)) {
      yield message;
      if (gone(context)) return;
      heartbeatAt = Date.now() + HEARTBEAT_MS;
    }
    cursor = results.at(-1) ?? cursor;
    if (Date.now() >= heartbeatAt) {
      yield heartbeat(cursor);
      heartbeatAt = Date.now() + HEARTBEAT_MS;
    }
    if (results.length === 0) await core.feed.changed(context.signal, Math.max(heartbeatAt - Date.now(), 0));
  }
};

function gone(context: HandlerContext): boolean {
  return context.signal.aborted;
}

/** Throws STREAM_TOKEN_TOO_OLD when the database has gone back to before the position of a stream. */
async function resultsAfter({ feed }: Core, position: LogPosition): Promise<readonly OperationRow[]> {
  try {
    return await feed.after(position);
  } catch (error) {
    if (error instanceof HistoryChanged) throw otherHistory(error);
    throw error;
  }
}

function otherHistory(cause?: unknown): HoldfastError {
  const message = 'the resume token belongs to a history that the database no longer has: list the operations instead';
  return new HoldfastError('STREAM_TOKEN_TOO_OLD', message, { cause });
}

async function startOf(core: Core, request: WatchOperationsRequest): Promise<LogPosition> {
  if (request.resumeToken === '') return core.feed.last();
  const token = readToken(request.resumeToken);
  if (token === undefined) {
    const violations = [{ field: 'resume_token', description: 'is not a token of this stream' }];
    throw new HoldfastError('INVALID_REQUEST', 'the request is not valid: resume_token', { violations });
  }
  const { sequence, mark } = token;
  const requestId = sequence === 0n ? '' : await core.feed.requestIdAt(sequence);
  if (requestId === undefined || markOf(requestId) !== mark) throw otherHistory();
  const [next] = await resultsAfter(core, { sequence, requestId });
  if (next && next.finalStateDate.getTime() < core.clock().getTime() - RESUMABLE_MS) {
    throw new HoldfastError('STREAM_TOKEN_TOO_OLD', 'the resume token is older than what can be resumed from');
  }
  return { sequence, requestId };
}
