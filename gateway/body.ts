/** Reading a request's body byte for byte, within a size and a time. */
import type { IncomingMessage } from 'node:http';

/** How much is read, and for how long. */
export interface BodyBounds {
  readonly maxBytes: number;
  /** For the whole body, from the call on. */
  readonly timeoutMs: number;
}

/** Why a body was not read; `httpStatus` is the answer, if anyone is left to hear it. */
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

/** What is read and thrown away beyond the bound, so that a sender slightly over it still reads our answer. */
const DRAIN_BYTES = 1024 * 1024;

/**
 * Reads the raw body. Rejects with BodyRefusal, after which the answer should carry `Connection: close`: what the
 * sender still has to say was not read.
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
