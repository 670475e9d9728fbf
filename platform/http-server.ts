import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import { oneAtATime } from './one-at-a-time.ts';
import { sliceRequests } from './slice-requests.ts';

/**
 * Timeouts of an HTTP/1.1 server, milliseconds. Node's defaults are 60 s for a head, 300 s for a request, and no limit
 * for a client that never reads its answer.
 */
export const HTTP_BOUNDS = {
  /** Until the head of a request has arrived; for the first request, since the connection was accepted. */
  headersTimeout: 5_000,
  /** Until the whole request has arrived. */
  requestTimeout: 10_000,
  /** How often late requests are looked for. */
  connectionsCheckingInterval: 1_000,
  /** How long a connection may be idle between two requests; longer than the 60 s after which proxies close theirs. */
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16 * 1024,
  /** How long a client may leave a written answer unread. */
  takeMs: 30_000,
};

export type HttpBounds = Readonly<typeof HTTP_BOUNDS>;

/**
 * Creates an HTTP/1.1 server, not yet listening, in which every wait for a client has a limit, and which answers the
 * requests of a connection one after the other. Ambiguous requests are refused.
 */
export function createBoundedServer(listener: RequestListener, bounds: HttpBounds = HTTP_BOUNDS): Server {
  const { takeMs, ...options } = bounds;
  const server = createServer(
    options,
    oneAtATime((request, response) => {
      const status = ambiguityOf(request);
      if (status === undefined) return listener(request, response);
      // What the client has sent behind such a request may be its body, or another one: nothing more is begun.
      response.writeHead(status, { Connection: 'close', 'Content-Length': '0' }).end();
    }),
  );
  server.on('connection', sliceRequests);
  closeUnread(server, 'connection', bounds);
  answerHalfClosed(server);
  return server;
}

/**
 * Has a client answered that has closed its side after its request (RFC 9112, section 9.6). By default Node closes the
 * connection then, though the request is carried out.
 */
export function answerHalfClosed(server: NetServer): void {
  Object.assign(server, { httpAllowHalfOpen: true });
}

/**
 * The status for a request that a proxy in front may have read in another way, which Node takes: two Host headers, a
 * transfer coding besides chunked, or a transfer coding of HTTP/1.0 (RFC 9112, sections 3.2 and 6.1). Undefined for any
 * other.
 */
function ambiguityOf({ rawHeaders, headers, httpVersion }: IncomingMessage): 400 | 501 | undefined {
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && httpVersion === '1.0') return 400;
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') return 501;
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host');
  return hosts.length > 1 ? 400 : undefined;
}

/** Listens, and returns the port. Throws an Error of one line that names the setting when the port cannot be used. */
export function listen(server: NetServer, setting: string, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      reject(new Error(`${setting}: cannot listen on ${host}:${port} (${cause.code})`, { cause }));
    });
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

/** Stops listening, and waits `graceMs` for running requests before it closes their connections. */
export async function closeServer(server: Server, graceMs: number): Promise<void> {
  if (!server.listening) return;
  const force = setTimeout(() => server.closeAllConnections(), graceMs);
  await new Promise((resolve) => server.close(resolve));
  clearTimeout(force);
}

/**
 * Closes connections whose peer does not read: of written data nothing has left for `takeMs`. Node's own timeout misses
 * them, because a peer that sends a byte now and then is not idle. A peer that reads slowly is served: there is always
 * something that waits for it, but not the same.
 */
export function closeUnread(
  server: NetServer,
  event: 'connection' | 'secureConnection',
  { takeMs, connectionsCheckingInterval }: HttpBounds,
): void {
  const sent = new Map<Socket, { bytes: number; atMs: number }>();
  server.on(event, (socket: Socket) => {
    sent.set(socket, { bytes: 0, atMs: performance.now() });
    socket.once('close', () => sent.delete(socket));
  });
  const sweep = setInterval(() => {
    const nowMs = performance.now();
    for (const [socket, last] of sent) {
      const bytes = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength === 0 || bytes > last.bytes) Object.assign(last, { bytes, atMs: nowMs });
      else if (nowMs - last.atMs > takeMs) socket.destroy();
    }
  }, connectionsCheckingInterval).unref();
  server.once('close', () => clearInterval(sweep));
}
