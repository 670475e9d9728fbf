import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Context, Middleware } from 'koa';
import type { WatchOperationsResponse } from '../../proto/gen/holdfast/v1/operation_pb.js';
import { errorFields, type Log } from '../../proto/log.ts';
import type { Core } from '../core.ts';
import type { Credentials } from '../credentials.ts';
import { Problem } from '../problem.ts';
import { operationJson } from './answer/operation.ts';
import { identityOf } from './authenticate.ts';
import { followOperations } from './follow-operations.ts';
import type { OpenStreams } from './open-streams.ts';
import { readQuery } from './read-query.ts';
import { NoQuery } from './schema/fields.ts';
import { lastEventId } from './schema/headers.ts';

/** What the stream needs besides core. */
export interface WatchOptions {
  readonly core: Core;
  readonly credentials: Credentials;
  readonly log: Log;
  /** Aborted when the gateway stops: streams end, their readers resume elsewhere. */
  readonly closing: AbortSignal;
  readonly openStreams: OpenStreams;
  /** Silence after which a comment is sent, milliseconds (docs/product.md, "Streams"). */
  readonly heartbeatMs: number;
}

/** How long a refusal of core (a token too old) may take to become the answer, instead of an open stream. */
const REFUSAL_MS = 2_000;
/** A reader that takes nothing for so long is gone; one whose stream has ended gets less. */
const STALLED_MS = { open: 60_000, ended: 2_000 } as const;
/** What is kept for a slow reader; beyond it core is not read any further. */
const BUFFER_BYTES = 16 * 1024;

/**
 * GET /operations/stream: Server-Sent Events, one per result in commit order; `id:` is the token to resume from.
 * Throws what streamOperations() throws.
 */
export function watchOperations(options: WatchOptions): Middleware {
  return async (ctx) => {
    readQuery(ctx, NoQuery);
    const { apiKeyHash: credential, ...identity } = identityOf(ctx);
    await streamOperations(ctx, options, { ...identity, credential });
  };
}

/** Whose results are streamed, and for how long. */
export interface StreamReader {
  /** Empty: all merchants'. */
  readonly merchantId: string;
  /** Names what the request came with, without telling it: its open streams are counted. */
  readonly credential: string;
  /** Whether that is good still. */
  readonly isLive: () => boolean;
  /** Sent to core besides the gateway's own. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Answers with the stream, from Last-Event-ID on. Throws Problem RATE_LIMITED and STREAM_TOKEN_TOO_OLD before the stream starts. */
export async function streamOperations(ctx: Context, options: WatchOptions, reader: StreamReader): Promise<void> {
  const { merchantId, metadata, credential } = reader;
  const resumeToken = readLastEventId(ctx);
  ctx.set('X-Accel-Buffering', 'no');
  ctx.type = 'text/event-stream';
  ctx.status = 200;
  // A reader that left before this has been told of nowhere else: its close is over.
  if (ctx.method === 'HEAD' || ctx.res.closed) return;
  const release = await options.openStreams.open(credential);
  if (ctx.res.closed) return release();
  const ending = endingOf(ctx, options, reader);
  ending.addEventListener('abort', release, { once: true });
  const from = { merchantId, resumeToken, ...(metadata && { metadata }) };
  const feed = followOperations(options.core, from, ending, options.log);
  const first = feed.next();
  first.catch((error: unknown) => options.log.warn('operations feed refused', errorFields(error)));
  await within(first, REFUSAL_MS);
  ctx.body = Readable.from(eventsOf(feed, first, options), { objectMode: false, highWaterMark: BUFFER_BYTES });
}

/** Aborted when the stream must end: its reader is gone, its key is revoked or cannot be judged any more, we stop. */
function endingOf(
  ctx: Context,
  { credentials, closing, heartbeatMs }: WatchOptions,
  { isLive }: StreamReader,
): AbortSignal {
  const ending = new AbortController();
  const judge = () => {
    if (ending.signal.aborted || (!closing.aborted && credentials.isFresh() && isLive())) return;
    ending.abort();
    stalled.refresh();
  };
  const stalled = setTimeout(() => ending.signal.aborted && ctx.res.destroy(), STALLED_MS.ended);
  const judging = setInterval(judge, heartbeatMs);
  const stopListening = credentials.onChange(judge);
  closing.addEventListener('abort', judge);
  ctx.res.setTimeout(STALLED_MS.open, () => ctx.res.destroy());
  ctx.res.once('close', () => {
    clearTimeout(stalled);
    clearInterval(judging);
    stopListening();
    closing.removeEventListener('abort', judge);
    ending.abort();
  });
  return ending.signal;
}

function readLastEventId(ctx: Context): string {
  const result = lastEventId.safeParse(ctx.get('last-event-id'));
  if (result.success) return result.data;
  const errors = [{ field: 'Last-Event-ID', message: result.error.issues[0]?.message ?? '' }];
  throw new Problem('INVALID_REQUEST', { detail: 'The Last-Event-ID header is not valid.', errors });
}

/** The stream's text. Written only as fast as it is read; a comment whenever there was nothing to tell for a while. */
async function* eventsOf(
  feed: AsyncIterator<WatchOperationsResponse>,
  first: Promise<IteratorResult<WatchOperationsResponse>>,
  { heartbeatMs, log }: WatchOptions,
): AsyncGenerator<string> {
  yield 'retry: 1000\n\n';
  try {
    for (let next = first; ; ) {
      const message = await within(next, heartbeatMs);
      if (message?.done) return;
      if (message) next = feed.next();
      yield message ? eventOf(message.value) : ': heartbeat\n\n';
    }
  } catch (error) {
    log.warn('operations stream ended', errorFields(error));
  }
}

/** A heartbeat of core has a token of its own: an event without data, which readers do not see but resume from. */
function eventOf({ operation, resumeToken }: WatchOperationsResponse): string {
  if (operation === undefined) return `: heartbeat\nid: ${resumeToken}\n\n`;
  return `id: ${resumeToken}\nevent: operation\ndata: ${JSON.stringify(operationJson(operation))}\n\n`;
}

/** What the promise settles to, or undefined when it takes longer. */
async function within<T>(promise: Promise<T>, timeoutMs: number): Promise<T | undefined> {
  const timer = new AbortController();
  try {
    return await Promise.race([promise, delay(timeoutMs, undefined, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}
