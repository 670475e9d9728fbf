import { once } from 'node:events';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Server as Listener } from 'node:net';
import type { Middleware } from 'koa';
import { createHttpDoor } from '../../platform/http-server.ts';

const DRAIN_MS = 10_000;

/** An HTTP server. */
export interface HttpServer {
  readonly server: Server;
  /** Begins to accept connections. Resolves with the port; rejects when it is taken. */
  listen(port: number, host: string): Promise<number>;
  /**
   * Accepts no new connections, lets running requests finish within 10 s, then closes every connection. Node alone would also wait for
   * connections that never sent a request.
   */
  drain(): Promise<void>;
}

/** Creates a server that is not listening yet. */
export function createHttpServer(listener: RequestListener): HttpServer {
  const server = createHttpDoor(listener);
  const answering = new Set<ServerResponse>();
  const drained = Promise.withResolvers<void>();
  server.on('request', (_request, response) => {
    answering.add(response);
    response.once('close', () => {
      answering.delete(response);
      if (!server.listening && answering.size === 0) drained.resolve();
    });
  });
  let stopListening = () => {};
  const listen = async (port: number, host: string) => {
    const listening = await listenWidely(server, port, host);
    stopListening = listening.close;
    return listening.port;
  };
  const drain = async () => {
    const closed = once(server, 'close');
    stopListening();
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
 * Node accepts one connection per listening socket and turn of its event loop. While turns take tens of milliseconds, one sender that
 * opens some hundred connections keeps everybody's waiting for seconds before the server even knows of them. Several sockets on one
 * port accept as many connections at a turn, and the kernel spreads connections over them. With 128 instead of 16, 2 000 connections of one
 * flood were accepted and answered in 1.8 to 3.9 s for 5.3 to 8.7 (measured beside other work on 2 cores).
 */
const SOCKETS = 128;
/** Connections that wait to be accepted at each. Above Node's 511 the kernel drops none for want of room; beyond, clients wait seconds. */
const BACKLOG = 4_096;

/**
 * Has a server listen. Resolves with how to stop it listening. Rejects with EADDRINUSE when the port is taken, by whomever. Where the
 * system knows no shared ports (macOS), one socket listens.
 */
async function listenWidely(server: Server, port: number, host: string): Promise<{ port: number; close(): void }> {
  if (process.platform !== 'linux') {
    await listening(server, { port, host, backlog: BACKLOG });
    return { port: (server.address() as AddressInfo).port, close: () => server.close() };
  }
  if (port !== 0) await demandFree(port, host);
  await listening(server, { port, host, backlog: BACKLOG, reusePort: true });
  const { port: bound } = server.address() as AddressInfo;
  const others = Array.from({ length: SOCKETS - 1 }, () => createServer((socket) => server.emit('connection', socket)));
  const close = () => {
    for (const each of others) each.close();
    server.close();
  };
  try {
    for (const each of others) await listening(each, { port: bound, host, backlog: BACKLOG, reusePort: true });
  } catch (error) {
    close();
    throw error;
  }
  return { port: bound, close };
}

/** A shared port could be shared with another process of the same user: one that is in use already is refused. */
async function demandFree(port: number, host: string): Promise<void> {
  const probe = createServer();
  await listening(probe, { port, host });
  const closed = once(probe, 'close');
  probe.close();
  await closed;
}

async function listening(server: Listener, options: object): Promise<void> {
  await once(server.listen(options), 'listening');
}

/** Read and discarded after the answer: closing at once could lose the answer. */
const DRAIN_BYTES = 1024 * 1024;
const UNREAD_MS = 5_000;
const LOOK_EVERY_MS = 20;

/**
 * Closes the connection of a client that goes on sending a body after it was answered: after 1 MiB, or after a time. Node would read all of
 * it, for as long as a request may take (measured: 2.5 GB in 10 s, and a third of a core).
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
