/** Reads a request's body byte for byte, within a size and a time. */
import type { IncomingMessage } from 'node:http';
import { type BodyBounds, readBody as readBytes, type Unread } from '../../platform/read-body.ts';
import { Problem } from './problem.ts';
import type { ProblemCode } from './refusals.ts';

/**
 * Reads the raw body. Rejects with Problem PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT, UNAVAILABLE when it has to give way to
 * other bodies, and INVALID_REQUEST when the client disconnects.
 */
export async function readBody(request: IncomingMessage, bounds: BodyBounds): Promise<Buffer> {
  const read = await readBytes(request, bounds);
  if (typeof read !== 'string') return read;
  const tooLarge = `The body is larger than ${bounds.maxBytes / 1024} KiB, the most that is taken here.`;
  // The rest of the body was not read, so the connection cannot carry another request.
  throw new Problem(CODES[read], {
    ...(read === 'TOO_LARGE' && { detail: tooLarge }),
    headers: { Connection: 'close' },
  });
}

const CODES: Readonly<Record<Unread, ProblemCode>> = {
  TOO_LARGE: 'PAYLOAD_TOO_LARGE',
  TOO_SLOW: 'REQUEST_TIMEOUT',
  NO_ROOM: 'UNAVAILABLE',
  DISCONNECTED: 'INVALID_REQUEST',
};
