/** Reads a request's body byte for byte, within a size, a time, and room that bodies share. */
import type { IncomingMessage } from 'node:http';
import type { BodyRoom } from './body-room.ts';

export interface BodyBounds {
  readonly maxBytes: number;
  /** For the whole body, from the call of readBody(). */
  readonly timeoutMs: number;
  /** Room for bodies of senders that are not known, and where this one is from; absent = not shared. */
  readonly room?: { readonly shared: BodyRoom; readonly address: string };
}

/**
 * Why a body was not read, or its client has disconnected. Its rest stays in its connection, which cannot carry another
 * request.
 */
export type Unread = 'TOO_LARGE' | 'TOO_SLOW' | 'NO_ROOM' | 'DISCONNECTED';

/** The HTTP status that says it. */
export const UNREAD_STATUS: Readonly<Record<Unread, number>> = {
  TOO_LARGE: 413,
  TOO_SLOW: 408,
  NO_ROOM: 503,
  DISCONNECTED: 400,
};

/** Read and discarded above the limit, so that a client slightly above it still receives the answer. */
const DRAIN_BYTES = 1024 * 1024;

/** Reads the raw body; or returns why it was not read. Never rejects. */
export function readBody(request: IncomingMessage, bounds: BodyBounds): Promise<Buffer | Unread> {
  const { maxBytes, timeoutMs, room } = bounds;
  // A small body has usually arrived with its head: then it needs neither timer nor room.
  if (request.complete && !request.destroyed && request.readableLength <= maxBytes)
    return Promise.resolve(request.read() ?? Buffer.alloc(0));
  return new Promise((resolve) => {
    if (Number(request.headers['content-length'] ?? 0) > maxBytes + DRAIN_BYTES) return resolve('TOO_LARGE');
    if (request.destroyed) return resolve('DISCONNECTED');
    const chunks: Buffer[] = [];
    let bytes = 0;
    const place = room?.shared.enter(room.address, () => refuse('NO_ROOM'));

    const onData = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) chunks.push(chunk);
      else chunks.length = 0;
      if (bytes > maxBytes + DRAIN_BYTES) return refuse('TOO_LARGE');
      place?.hold(bytes <= maxBytes ? bytes : 0);
    };
    const onEnd = () => {
      if (bytes > maxBytes) return refuse('TOO_LARGE');
      release();
      resolve(Buffer.concat(chunks, bytes));
    };
    const onAbort = () => refuse('DISCONNECTED');
    const timer = setTimeout(() => refuse(bytes > maxBytes ? 'TOO_LARGE' : 'TOO_SLOW'), timeoutMs);

    function refuse(why: Unread): void {
      release();
      request.pause();
      resolve(why);
    }
    function release(): void {
      clearTimeout(timer);
      place?.leave();
      request.off('data', onData).off('end', onEnd).off('close', onAbort).off('error', onAbort);
      // A socket that breaks after we stopped listening must not become an uncaught error.
      request.on('error', () => undefined);
    }
    request.on('data', onData).on('end', onEnd).on('close', onAbort).on('error', onAbort);
  });
}
