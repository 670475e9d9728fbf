import { once } from 'node:events';
import { type IncomingMessage, type RequestListener, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createBoundedServer } from '../../platform/http-server.ts';
import { Problem } from './problem.ts';

const DRAIN_MS = 10_000;
const MOST_LISTENERS = 20;

/**
 * Creates the server, not yet listening. A client that goes on sending a body for `unreadMs` after it was answered, or
 * 1 MiB of it, loses its connection: Node would read all of it, for as long as a request may take (measured: 2.5 GB in
 * 10 s, and a third of a core).
 */
export function createGatewayServer(listener: RequestListener, unreadMs = UNREAD_MS) {
  const answering = new Set<ServerResponse>();
  const drained = Promise.withResolvers<void>();
  const server = createBoundedServer((request, response) => {
    answering.add(response);
    // Each layer around an answer listens for its end; a stream's is beyond Node's 10, at which it warns of a leak.
    response.setMaxListeners(MOST_LISTENERS);
    response.once('finish', () => {
      if (!request.complete) discard(request, unreadMs);
    });
    response.once('close', () => {
      answering.delete(response);
      if (!server.listening && answering.size === 0) drained.resolve();
    });
    listener(request, response);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const current = [...answering].find((response) => response.socket === socket);
    // The answer would be taken for that of the request before it, which was read in full and may have been done.
    const isTaken = current !== undefined && (current.headersSent || current.req.complete);
    if (socket.writable && !isTaken) socket.write(answerToUnread(error.code));
    // At once: requests that follow this answer must not be carried out.
    socket.destroy();
  });
  /** Begins to accept connections. Resolves with the port; rejects when it is taken. */
  const listen = async (port: number, host: string): Promise<number> => {
    await once(server.listen({ port, host, backlog: BACKLOG }), 'listening');
    return (server.address() as AddressInfo).port;
  };
  /**
   * Accepts no new connections, lets running requests finish within 10 s, then closes every connection. Node alone
   * would also wait for connections that never sent a request.
   */
  const drain = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    if (answering.size === 0) drained.resolve();
    const deadline = setTimeout(drained.resolve, DRAIN_MS);
    await drained.promise;
    clearTimeout(deadline);
    server.closeAllConnections();
    await closed;
  };
  return { server, listen, drain };
}

/** The answer to a request that Node could not read, or not in time: with Node's status, as a problem. */
function answerToUnread(code: string | undefined): string {
  const problem = UNREAD[code ?? ''] ?? new Problem('INVALID_REQUEST', { detail: 'This is not valid HTTP/1.1.' });
  const status = code === 'HPE_HEADER_OVERFLOW' ? 431 : problem.status;
  const body = JSON.stringify({ ...problem.toJSON(), status });
  const headers = {
    ...problem.headers(),
    'Content-Type': 'application/problem+json',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n');
}

const UNREAD: Readonly<Record<string, Problem>> = {
  ERR_HTTP_REQUEST_TIMEOUT: new Problem('REQUEST_TIMEOUT'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new Problem('PAYLOAD_TOO_LARGE', { detail: 'The chunk extensions are too long.' }),
  HPE_HEADER_OVERFLOW: new Problem('INVALID_REQUEST', { detail: 'The headers are larger than 16 KiB.' }),
};

/**
 * Connections that wait to be accepted. Above Node's 511 the kernel drops none for want of room; beyond, clients wait
 * seconds.
 */
const BACKLOG = 4_096;

/** Read and discarded after the answer: closing at once could lose the answer. */
const DRAIN_BYTES = 1024 * 1024;
const UNREAD_MS = 5_000;
const LOOK_EVERY_MS = 20;

/** Node discards the body internally, without events, so the socket's counter is polled. */
function discard(request: IncomingMessage, timeoutMs: number): void {
  const { socket } = request;
  const mostBytes = socket.bytesRead + DRAIN_BYTES;
  const endMs = performance.now() + timeoutMs;
  const timer = setInterval(() => {
    if (socket.bytesRead > mostBytes || performance.now() > endMs) socket.destroy();
  }, LOOK_EVERY_MS).unref();
  request.once('close', () => clearInterval(timer));
}
