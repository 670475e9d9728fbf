/**
 * Limits that Node does not set for HTTP/2: a request that never ends, an answer that nobody reads, a session without a
 * request.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';

export const HTTP2_BOUNDS = {
  /** Until the whole request has arrived. */
  requestMs: 10_000,
  /** Until the client has read an answer that has ended. */
  takeMs: 30_000,
  /** Until a new session has opened its first stream. */
  firstRequestMs: 10_000,
  /** How long a session may have no stream. */
  idleMs: 120_000,
  /** How often late streams are looked for. */
  sweepMs: 1_000,
};

export type Http2Bounds = Readonly<typeof HTTP2_BOUNDS>;

/**
 * Resets late HTTP/2 streams of this process, whichever library serves them: grpc-js does not expose its streams, so
 * Node's diagnostics channels find them. It resets only the stream, because a proxy carries other callers on the same
 * session. Returns a function that stops it.
 */
export function boundHttp2Streams(bounds: Http2Bounds = HTTP2_BOUNDS): () => void {
  const streams = new Map<ServerHttp2Stream, Progress>();
  const onStart = (message: unknown) => {
    streams.set((message as { stream: ServerHttp2Stream }).stream, { startedMs: performance.now() });
  };
  const onClose = (message: unknown) => streams.delete((message as { stream: ServerHttp2Stream }).stream);
  subscribe(START, onStart);
  subscribe(CLOSE, onClose);
  const sweep = setInterval(() => {
    const nowMs = performance.now();
    for (const [stream, progress] of streams) {
      if (stream.destroyed) streams.delete(stream);
      else if (isLate(stream, progress, nowMs, bounds)) stream.close(constants.NGHTTP2_CANCEL);
    }
  }, bounds.sweepMs).unref();
  return () => {
    clearInterval(sweep);
    unsubscribe(START, onStart);
    unsubscribe(CLOSE, onClose);
  };
}

/** Closes a session that opens no stream. PINGs do not count. */
export function boundHttp2Session(
  session: ServerHttp2Session,
  { firstRequestMs, idleMs }: Http2Bounds = HTTP2_BOUNDS,
): void {
  const end = () => {
    session.close();
    setTimeout(() => session.destroy(), GOODBYE_MS).unref();
  };
  let timer = setTimeout(end, firstRequestMs);
  let open = 0;
  session.on('stream', (stream) => {
    open += 1;
    clearTimeout(timer);
    stream.once('close', () => {
      open -= 1;
      if (open > 0 || session.closed) return;
      clearTimeout(timer);
      timer = setTimeout(end, idleMs);
    });
  });
  session.once('close', () => clearTimeout(timer));
}

interface Progress {
  readonly startedMs: number;
  requestComplete?: boolean;
  endedMs?: number;
}

function isLate(stream: ServerHttp2Stream, progress: Progress, nowMs: number, bounds: Http2Bounds): boolean {
  if (!progress.requestComplete && nowMs - progress.startedMs > bounds.requestMs) {
    if (stream.state.remoteClose !== 1) return true;
    progress.requestComplete = true;
  }
  if (!stream.writableEnded) return false;
  progress.endedMs ??= nowMs;
  return nowMs - progress.endedMs > bounds.takeMs;
}

const START = 'http2.server.stream.start';
const CLOSE = 'http2.server.stream.close';
const GOODBYE_MS = 1_000;
