import { once } from 'node:events';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Middleware } from 'koa';
import { createBoundedServer } from '../../platform/http-server.ts';

const DRAIN_MS = 10_000;

/** An HTTP server. */
export interface HttpServer {
  readonly server: Server;
  /** Begins to accept connections. Resolves with the port; rejects when it is taken. */
  listen(port: number, host: string): Promise<number>;
  /**
   * Accepts no new connections, lets running requests finish within 10 s, then closes every connection. Node alone
   * would also wait for connections that never sent a request.
   */
  drain(): Promise<void>;
}

/** Creates a server that is not listening yet. */
export function createGatewayServer(listener: RequestListener): HttpServer {
  const server = createBoundedServer(listener);
  const answering = new Set<ServerResponse>();
  const drained = Promise.withResolvers<void>();
  server.on('request', (_request, response) => {
    answering.add(response);
    response.once('close', () => {
      answering.delete(response);
      if (!server.listening && answering.size === 0) drained.resolve();
    });
  });
  const listen = async (port: number, host: string) => {
    await once(server.listen({ port, host, backlog: BACKLOG }), 'listening');
    return (server.address() as AddressInfo).port;
  };
  const drain = async () => {
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

/**
 * Connections that wait to be accepted. Above Node's 511 the kernel drops none for want of room; beyond, clients wait
 * seconds.
 */
const BACKLOG = 4_096;

/** Read and discarded after the answer: closing at once could lose the answer. */
const DRAIN_BYTES = 1024 * 1024;
const UNREAD_MS = 5_000;
const LOOK_EVERY_MS = 20;

/**
 * Closes the connection of a client that goes on sending a body after it was answered: after 1 MiB, or after a time.
 * Node would read all of it, for as long as a request may take (measured: 2.5 GB in 10 s, and a third of a core).
 */
export function closeUnread(timeoutMs: number = UNREAD_MS): Middleware {
  return (ctx, next) => {
    ctx.res.once('finish', () => {
      if (!ctx.req.complete) discard(ctx.req, timeoutMs);
    });
    return next();
  };
}

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
