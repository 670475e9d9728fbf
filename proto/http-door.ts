import { createServer, type RequestListener, type Server } from 'node:http';
import type { Server as NetServer, Socket } from 'node:net';

/** Times and sizes of a door that speaks HTTP/1.1. */
export interface HttpBounds {
  /** Until the head of a request has arrived, counted from the connection's first moment. */
  readonly headersTimeout: number;
  /** Until all of a request has arrived. */
  readonly requestTimeout: number;
  /** How often those that are late are looked for. */
  readonly connectionsCheckingInterval: number;
  /** How long a connection may be idle between two requests; longer than the 60 s after which proxies close theirs. */
  readonly keepAliveTimeout: number;
  readonly maxHeaderSize: number;
  /** How long an answer, or a part of one, may wait to be taken. */
  readonly takeMs: number;
}

/** Node's defaults are longer: 60 s for a head, 300 s for a request; and no bound for a client that never reads its answer. */
export const HTTP_BOUNDS: HttpBounds = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16 * 1024,
  takeMs: 30_000,
};

/** An HTTP/1.1 server, not yet listening, that waits for no client for ever. */
export function createHttpDoor(listener: RequestListener, bounds: HttpBounds = HTTP_BOUNDS): Server {
  const { takeMs, ...options } = bounds;
  const server = createServer(options, listener);
  closeUnread(server, 'connection', bounds);
  return server;
}

/**
 * Closes connections whose peer does not read: what was written to them has waited for `takeMs` without ever being taken in full. Node's own
 * timeout does not see them, for a peer that sends a byte now and then is not idle.
 */
export function closeUnread(
  server: NetServer,
  event: 'connection' | 'secureConnection',
  { takeMs, connectionsCheckingInterval }: HttpBounds,
): void {
  const waitingSinceMs = new Map<Socket, number | undefined>();
  server.on(event, (socket: Socket) => {
    waitingSinceMs.set(socket, undefined);
    socket.once('close', () => waitingSinceMs.delete(socket));
  });
  const sweep = setInterval(() => {
    const nowMs = performance.now();
    for (const [socket, sinceMs] of waitingSinceMs) {
      if (socket.writableLength === 0) waitingSinceMs.set(socket, undefined);
      else if (sinceMs === undefined) waitingSinceMs.set(socket, nowMs);
      else if (nowMs - sinceMs > takeMs) socket.destroy();
    }
  }, connectionsCheckingInterval).unref();
  server.once('close', () => clearInterval(sweep));
}
