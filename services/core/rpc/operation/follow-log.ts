import { HoldfastError } from '../../domain/refusal.ts';
import type { LogPosition } from '../../storage/operation/operation-row.ts';
import type { Core } from '../core.ts';
import { invalidField } from '../refuse.ts';
import { HistoryChanged, type LogPage } from './operation-feed.ts';
import { markOf, readToken } from './stream-token.ts';

/** A stream shows its position this often, so that a quiet one resumes near its end. */
export const HEARTBEAT_MS = 5_000;
/** Results older than this cannot be resumed from: a consumer that was away longer has to list. */
const RESUMABLE_MS = 90 * 24 * 3_600 * 1_000;

/**
 * Follows the log in commit order from a resume token on, '' = from now, until the signal aborts. With a merchantId,
 * other merchants' results may be missing. The first page is empty: its position is the starting point; later empty
 * pages have a position, too. Throws STREAM_TOKEN_TOO_OLD, also for a token of a history that a restore has undone;
 * INVALID_REQUEST for a text that is no token.
 */
export async function* followLog(
  core: Core,
  merchantId: string | undefined,
  resumeToken: string,
  signal: AbortSignal,
): AsyncGenerator<LogPage, void> {
  let position = await startOf(core, merchantId, resumeToken);
  yield { results: [], position };
  let shownAt = performance.now();
  while (!signal.aborted) {
    const page = await pageAfter(core, position, merchantId);
    const isMoved = page.position.sequence > position.sequence;
    position = page.position;
    if (page.results.length > 0) yield page;
    else if (!isMoved) await core.feed.changed(signal, Math.max(shownAt + HEARTBEAT_MS - performance.now(), 0));
    if (signal.aborted || performance.now() < shownAt + HEARTBEAT_MS) continue;
    yield { results: [], position };
    shownAt = performance.now();
  }
}

/** Throws STREAM_TOKEN_TOO_OLD when the database has gone back to before the position of a stream. */
async function pageAfter({ feed }: Core, position: LogPosition, merchantId: string | undefined): Promise<LogPage> {
  try {
    return await feed.after(position, merchantId);
  } catch (error) {
    if (error instanceof HistoryChanged) throw otherHistory(error);
    throw error;
  }
}

function otherHistory(cause?: unknown): HoldfastError {
  const message = 'the resume token belongs to a history that the database no longer has: list the operations instead';
  return new HoldfastError('STREAM_TOKEN_TOO_OLD', message, { cause });
}

async function startOf(core: Core, merchantId: string | undefined, resumeToken: string): Promise<LogPosition> {
  if (resumeToken === '') return core.feed.last();
  const token = readToken(resumeToken, merchantId, core.cipher);
  if (token === undefined) throw invalidField('resume_token', 'is not a token of this stream');
  const { sequence, mark } = token;
  const place = await core.feed.placeAt(sequence);
  if (place === undefined || markOf(place.requestId) !== mark) throw otherHistory();
  const { requestId, isFollowed } = place;
  const { results } = await pageAfter(core, { sequence, requestId }, merchantId);
  const [next] = results;
  if (!isFollowed || (next && next.finalStateDate.getTime() < core.clock().getTime() - RESUMABLE_MS)) {
    throw new HoldfastError('STREAM_TOKEN_TOO_OLD', 'the resume token is older than what can be resumed from');
  }
  return { sequence, requestId };
}
