import type { Method } from '../core.ts';
import { scopeOf } from '../server/caller.ts';
import { followLog } from './follow-log.ts';
import { heartbeat, messagesAbout } from './watch-messages.ts';

/**
 * Streams results in commit order, for one merchant or all. The first message is a heartbeat with the token of the
 * starting point. Errors: STREAM_TOKEN_TOO_OLD, INVALID_REQUEST, as followLog() says.
 */
export const watchOperations: Method<'watchOperations'> = async function* (core, request, context) {
  const { signal } = context;
  const merchantId = scopeOf(context, request.merchantId);
  for await (const { results, position } of followLog(core, request.resumeToken, signal)) {
    const mine = merchantId === undefined ? results : results.filter((result) => result.merchantId === merchantId);
    for (const message of messagesAbout(mine, request.maxBatchSize)) {
      yield message;
      if (signal.aborted) return;
    }
    if (results.length === 0) yield heartbeat(position);
  }
};
