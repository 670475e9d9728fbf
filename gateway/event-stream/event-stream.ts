/** Streams of core's as Server-Sent Events, for merchants and operators. */
import { Readable } from 'node:stream';
import type { Context } from 'koa';
import { z } from 'zod';
import type { GrpcCall } from '../../platform/grpc-client.ts';
import { errorFields, type Log } from '../../platform/log.ts';
import { settlesWithin } from '../../platform/settles-within.ts';
import type { WatchOperationsResponse } from '../../proto/gen/holdfast/v1/operation_pb.js';
import type { Core } from '../core/client.ts';
import type { Credentials } from '../core/credentials.ts';
import { invalidHeader, isServiceError, type Problem, problemOfRpc } from '../http/problem.ts';
import type { ExportLimit } from '../resource/csv.ts';
import { Operation } from '../resource/operation.ts';
import { type FeedMessage, followFeed } from './follow-feed.ts';
import type { StreamLimit } from './stream-limit.ts';

export interface StreamOptions {
  readonly core: Core;
  readonly credentials: Credentials;
  readonly log: Log;
  /** Aborted when the gateway stops: streams end, and their readers resume at another gateway. */
  readonly closing: AbortSignal;
  readonly streamLimit: StreamLimit;
  readonly exportLimit: ExportLimit;
  /** Silence after which a comment is sent, milliseconds (docs/interfaces.md, "Streams"). */
  readonly heartbeatMs: number;
}

/** A reader that reads nothing for this long is disconnected; sooner once its stream has ended. */
const STALLED_MS = { open: 60_000, ended: 2_000 } as const;
/** Buffered for a slow reader; when it is full, nothing more is read from core. */
const BUFFER_BYTES = 16 * 1024;

const lastEventId = z
  .string()
  .regex(/^[\x21-\x7E]{0,64}$/)
  .meta({
    description: 'The id of the last event that was read; without it the stream begins now',
    examples: ['bzI6MTA0Mjo2YzdkOGU5ZjBiMDE'],
  });

/** The request header, for a route's description. */
export const LAST_EVENT_ID = { 'Last-Event-ID': lastEventId.optional() };

/** The answer of events with such data, for a route's description. */
export function eventStream(event: z.ZodType) {
  return { description: 'The stream', schema: z.string(), mediaType: 'text/event-stream', event };
}

/** The source of a stream: core's feed, and the events made of it. */
export interface Feed<M extends FeedMessage> {
  readonly event: string;
  watch(core: Core, request: { merchantId: string; resumeToken: string }, call: GrpcCall): AsyncIterable<M>;
  /** The data of the event about a message; undefined = it is a heartbeat. */
  dataOf(message: M): object | undefined;
}

/** Results as they are committed: an event for each. */
export const OPERATIONS: Feed<WatchOperationsResponse> = {
  event: 'operation',
  watch: (core, request, call) => core.operations.watchOperations(request, call),
  dataOf: ({ operation }) => operation && Operation.json(operation),
};

/** To whom it is streamed, and for how long. */
export interface StreamReader {
  /** Empty: all merchants'. */
  readonly merchantId: string;
  /** Identifies the reader's credential without revealing it: open streams are counted by it. */
  readonly credential: string;
  readonly isLive: () => boolean;
  /** Sent to core in addition to the gateway's own. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/**
 * Answers with the stream, one event per message in commit order, from Last-Event-ID on; `id:` is the token to resume
 * from. Throws Problem RATE_LIMITED and STREAM_TOKEN_TOO_OLD before the stream starts.
 */
export async function streamEvents<M extends FeedMessage>(
  ctx: Context,
  options: StreamOptions,
  reader: StreamReader,
  feed: Feed<M>,
): Promise<void> {
  const { merchantId, metadata = {}, credential } = reader;
  const resumeToken = readLastEventId(ctx);
  ctx.set('X-Accel-Buffering', 'no');
  ctx.type = 'text/event-stream';
  ctx.status = 200;
  // The client may have disconnected before this point; then no close event follows.
  if (ctx.method === 'HEAD' || isGone(ctx)) return;
  const release = await options.streamLimit.open(credential);
  if (isGone(ctx)) return release();
  const ending = endingOf(ctx, options, reader);
  ending.addEventListener('abort', release, { once: true });
  const open = (token: string) =>
    feed.watch(options.core, { merchantId, resumeToken: token }, { signal: ending, metadata });
  const messages = followFeed(open, { merchantId, resumeToken }, ending, options.log);
  const first = options.streamLimit.inTurn(credential, () => messages.next(), ending);
  // With it core says where the stream begins. A client that was answered before could miss what happens until then.
  await first.catch((error: unknown) => {
    if (ending.aborted) return;
    options.log.warn('feed refused', errorFields(error));
    throwInWordsOfHttp(error);
  });
  ctx.body = Readable.from(eventsOf(feed, messages, first, options), {
    objectMode: false,
    highWaterMark: BUFFER_BYTES,
  });
}

/** Returns whether the client has disconnected, or sends nothing more. */
function isGone({ req, res }: Context): boolean {
  return res.closed || req.socket.readableEnded;
}

/** Core knows Last-Event-ID as its resume token. */
function throwInWordsOfHttp(error: unknown): never {
  const problem = isServiceError(error) ? problemOfRpc(error) : undefined;
  if (problem?.details.errors?.some(({ field }) => field === 'resumeToken')) throw invalidLastEventId();
  throw error;
}

function invalidLastEventId(): Problem {
  return invalidHeader('Last-Event-ID', 'must be the id of an event of this stream');
}

/**
 * Aborts when the stream must end: the reader disconnected, its credential ended or cannot be checked any more, or the
 * gateway stops.
 */
function endingOf(
  ctx: Context,
  { credentials, closing, heartbeatMs }: StreamOptions,
  { isLive }: StreamReader,
): AbortSignal {
  const ending = new AbortController();
  const check = () => {
    if (ending.signal.aborted || (!closing.aborted && credentials.isFresh() && isLive())) return;
    ending.abort();
    stalled.refresh();
  };
  const stalled = setTimeout(() => ending.signal.aborted && ctx.res.destroy(), STALLED_MS.ended);
  const checking = setInterval(check, heartbeatMs);
  const stopListening = credentials.onChange(check);
  closing.addEventListener('abort', check);
  ctx.res.setTimeout(STALLED_MS.open, () => ctx.res.destroy());
  // Other answers are sent to a client that has closed its side; this one would never end.
  const leave = () => ctx.res.destroy();
  const { socket } = ctx.req;
  socket.once('end', leave);
  ctx.res.once('close', () => {
    socket.off('end', leave);
    clearTimeout(stalled);
    clearInterval(checking);
    stopListening();
    closing.removeEventListener('abort', check);
    ending.abort();
  });
  return ending.signal;
}

function readLastEventId(ctx: Context): string {
  const result = lastEventId.safeParse(ctx.get('last-event-id'));
  if (result.success) return result.data;
  throw invalidLastEventId();
}

/** The stream's text, produced only as fast as it is read; a comment after a time without events. */
async function* eventsOf<M extends FeedMessage>(
  feed: Feed<M>,
  messages: AsyncIterator<M>,
  first: Promise<IteratorResult<M>>,
  { heartbeatMs, log }: StreamOptions,
): AsyncGenerator<string> {
  yield 'retry: 1000\n\n';
  try {
    for (let next = first; ; ) {
      const message = await within(next, heartbeatMs);
      if (message?.done) return;
      if (message) next = messages.next();
      yield message ? eventOf(feed, message.value) : ': heartbeat\n\n';
    }
  } catch (error) {
    log.warn('stream ended', errorFields(error));
  }
}

/** Core's heartbeat carries a token: it becomes an event without data, which clients do not report but resume from. */
function eventOf<M extends FeedMessage>({ event, dataOf }: Feed<M>, message: M): string {
  const data = dataOf(message);
  if (data === undefined) return `: heartbeat\nid: ${message.resumeToken}\n\n`;
  return `id: ${message.resumeToken}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** The promise's value, or undefined when it takes longer than `timeoutMs`. */
async function within<T>(promise: Promise<T>, timeoutMs: number): Promise<T | undefined> {
  return (await settlesWithin(timeoutMs, promise)) ? promise : undefined;
}
