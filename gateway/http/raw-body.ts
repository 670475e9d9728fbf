/** Reads a request's body byte for byte, within a size and a time. */
import type { IncomingMessage } from 'node:http';

/** Limits of a body. */
export interface BodyBounds {
  readonly maxBytes: number;
  /** For the whole body, from the call of readBody(). */
  readonly timeoutMs: number;
}

/** Why a body was not read. `httpStatus` is for the answer, when the client is still connected. */
export class BodyRefusal extends Error {
  override readonly name = 'BodyRefusal';
  readonly reason: 'too-large' | 'too-slow' | 'aborted';
  readonly httpStatus: 400 | 408 | 413;

  constructor(reason: BodyRefusal['reason']) {
    super(`request body ${reason}`);
    this.reason = reason;
    this.httpStatus = reason === 'too-large' ? 413 : reason === 'too-slow' ? 408 : 400;
  }
}

/** Read and discarded above the limit, so that a client slightly above it still receives the answer. */
const DRAIN_BYTES = 1024 * 1024;

/**
 * Reads the raw body. Rejects with BodyRefusal; the answer should then carry `Connection: close`, because the rest of the body was not read.
 */
export function readBody(request: IncomingMessage, bounds: BodyBounds): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (Number(request.headers['content-length'] ?? 0) > bounds.maxBytes + DRAIN_BYTES) {
      return reject(new BodyRefusal('too-large'));
    }
    if (request.destroyed) return reject(new BodyRefusal('aborted'));
    const chunks: Buffer[] = [];
    let bytes = 0;

    const onData = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= bounds.maxBytes) chunks.push(chunk);
      else chunks.length = 0;
      if (bytes > bounds.maxBytes + DRAIN_BYTES) refuse('too-large');
    };
    const onEnd = () => {
      if (bytes > bounds.maxBytes) return refuse('too-large');
      release();
      resolve(Buffer.concat(chunks, bytes));
    };
    const onAbort = () => refuse('aborted');
    const timer = setTimeout(() => refuse(bytes > bounds.maxBytes ? 'too-large' : 'too-slow'), bounds.timeoutMs);

    function refuse(reason: BodyRefusal['reason']): void {
      release();
      request.pause();
      reject(new BodyRefusal(reason));
    }
    function release(): void {
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('close', onAbort).off('error', onAbort);
      // A socket that breaks after we stopped listening must not become an uncaught error.
      request.on('error', () => undefined);
    }
    request.on('data', onData).on('end', onEnd).on('close', onAbort).on('error', onAbort);
  });
}
