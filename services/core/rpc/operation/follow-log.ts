import { HoldfastError } from '../../domain/refusal.ts';
import type { LogPosition, LogRow } from '../../storage/ordered-log.ts';
import type { Core } from '../core.ts';
import { invalidField } from '../refuse.ts';
import { HistoryChanged, type LogFeed, type LogPage } from './log-feed.ts';
import { OPERATION_TOKENS, readToken, type TokenForm } from './stream-token.ts';

/** A stream shows its position this often, so that a quiet one resumes near its end. */
export const HEARTBEAT_MS = 5_000;
/** Rows older than this cannot be resumed from: a consumer that was away longer has to begin again. */
const RESUMABLE_MS = 90 * 24 * 3_600 * 1_000;

/** Where a stream begins. */
export interface Resumed {
  /** Undefined = all merchants'. */
  readonly merchantId: string | undefined;
  /** Empty = now. */
  readonly resumeToken: string;
}

/**
 * Follows a log in its order from a resume token on until the signal aborts. With a merchantId, other merchants' rows
 * may be missing. The first page is empty: its position is the starting point; later empty pages have a position, too.
 * Throws STREAM_TOKEN_TOO_OLD, also for a token of a history that a restore has undone; INVALID_REQUEST for a text that
 * is no token of the log.
 */
export async function* followLog<Row extends LogRow>(
  core: Pick<Core, 'cipher' | 'clock'>,
  feed: LogFeed<Row>,
  from: Resumed,
  signal: AbortSignal,
  tokens = OPERATION_TOKENS,
): AsyncGenerator<LogPage<Row>, void> {
  const { merchantId } = from;
  let position = await startOf(core, feed, from, tokens);
  yield { rows: [], position };
  let shownAt = performance.now();
  while (!signal.aborted) {
    const page = await pageAfter(feed, position, merchantId);
    const isMoved = page.position.sequence > position.sequence;
    position = page.position;
    if (page.rows.length > 0) yield page;
    else if (!isMoved) await feed.changed(signal, Math.max(shownAt + HEARTBEAT_MS - performance.now(), 0));
    if (signal.aborted || performance.now() < shownAt + HEARTBEAT_MS) continue;
    yield { rows: [], position };
    shownAt = performance.now();
  }
}

/** Throws STREAM_TOKEN_TOO_OLD when the database has gone back to before the position of a stream. */
async function pageAfter<Row extends LogRow>(
  feed: LogFeed<Row>,
  position: LogPosition,
  merchantId: string | undefined,
): Promise<LogPage<Row>> {
  try {
    return await feed.after(position, merchantId);
  } catch (error) {
    if (error instanceof HistoryChanged) throw otherHistory(error);
    throw error;
  }
}

function otherHistory(cause?: unknown): HoldfastError {
  const message = 'the resume token belongs to a history that the database no longer has: begin without a token';
  return new HoldfastError('STREAM_TOKEN_TOO_OLD', message, { cause });
}

async function startOf<Row extends LogRow>(
  { cipher, clock }: Pick<Core, 'cipher' | 'clock'>,
  feed: LogFeed<Row>,
  { merchantId, resumeToken }: Resumed,
  tokens: TokenForm,
): Promise<LogPosition> {
  if (resumeToken === '') return feed.last();
  const position = readToken(resumeToken, merchantId, cipher, tokens);
  if (position === undefined) throw invalidField('resume_token', 'is not a token of this stream');
  const place = await feed.placeAt(position.sequence);
  if (place?.mark !== position.mark) throw otherHistory();
  const { rows } = await pageAfter(feed, position, merchantId);
  const [next] = rows;
  if (!place.isFollowed || (next && feed.storedAt(next).getTime() < clock().getTime() - RESUMABLE_MS)) {
    throw new HoldfastError('STREAM_TOKEN_TOO_OLD', 'the resume token is older than what can be resumed from');
  }
  return position;
}
