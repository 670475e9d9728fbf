/** Reads a request's body byte for byte, within a size and a time. */
import type { IncomingMessage } from 'node:http';
import { Problem, type ProblemCode } from './problem.ts';

export interface BodyBounds {
  readonly maxBytes: number;
  /** For the whole body, from the call of readBody(). */
  readonly timeoutMs: number;
}

/** Read and discarded above the limit, so that a client slightly above it still receives the answer. */
const DRAIN_BYTES = 1024 * 1024;

/**
 * Reads the raw body. Rejects with Problem PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT, and INVALID_REQUEST when the client
 * disconnects.
 */
export function readBody(request: IncomingMessage, bounds: BodyBounds): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (Number(request.headers['content-length'] ?? 0) > bounds.maxBytes + DRAIN_BYTES) {
      return reject(tooLarge(bounds));
    }
    if (request.destroyed) return reject(refusal('INVALID_REQUEST'));
    const chunks: Buffer[] = [];
    let bytes = 0;

    const onData = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= bounds.maxBytes) chunks.push(chunk);
      else chunks.length = 0;
      if (bytes > bounds.maxBytes + DRAIN_BYTES) refuse('PAYLOAD_TOO_LARGE');
    };
    const onEnd = () => {
      if (bytes > bounds.maxBytes) return refuse('PAYLOAD_TOO_LARGE');
      release();
      resolve(Buffer.concat(chunks, bytes));
    };
    const onAbort = () => refuse('INVALID_REQUEST');
    const timer = setTimeout(
      () => refuse(bytes > bounds.maxBytes ? 'PAYLOAD_TOO_LARGE' : 'REQUEST_TIMEOUT'),
      bounds.timeoutMs,
    );

    function refuse(code: ProblemCode): void {
      release();
      request.pause();
      reject(code === 'PAYLOAD_TOO_LARGE' ? tooLarge(bounds) : refusal(code));
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

function tooLarge({ maxBytes }: BodyBounds): Problem {
  return refusal('PAYLOAD_TOO_LARGE', `The body is larger than ${maxBytes / 1024} KiB, the most that is taken here.`);
}

/** The rest of the body was not read, so the connection cannot carry another request. */
function refusal(code: ProblemCode, detail?: string): Problem {
  return new Problem(code, { detail, headers: { Connection: 'close' } });
}
