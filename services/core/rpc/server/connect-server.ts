/** The server for Connect, gRPC-Web, gRPC and plain JSON: HTTP/1.1 and HTTP/2 on one port, in clear or over TLS. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { listen } from '../../../../platform/http-server.ts';
import { settlesWithin } from '../../../../platform/settles-within.ts';
import type { ServerParts } from '../services.ts';
import { clearEntrance, ENTRANCE_BOUNDS, type Handler, secureEntrance } from './connect-entrance.ts';
import { serveConnect } from './connect-requests.ts';

export type ConnectServer = Awaited<ReturnType<typeof openConnectServer>>;

const READ_MAX_BYTES = 1024 * 1024;
const MAX_TIMEOUT_MS = 60_000;

/** Opens the server. Rejects when the port is taken. A test may set shorter time limits for callers. */
export async function openConnectServer(parts: ServerParts, bounds = ENTRANCE_BOUNDS) {
  const shutdown = new AbortController();
  const serve = serveConnect(parts.services, {
    interceptors: parts.interceptors,
    readMaxBytes: READ_MAX_BYTES,
    maxTimeoutMs: MAX_TIMEOUT_MS,
    shutdownSignal: shutdown.signal,
  });
  const answering = new Set<object>();
  let idle = () => {};
  const handler: Handler = (request, response) => {
    answering.add(response);
    response.once('close', () => {
      answering.delete(response);
      if (answering.size === 0) idle();
    });
    serve(request, response);
  };
  const entrance = parts.tls ? secureEntrance(parts.tls, handler, bounds) : clearEntrance(handler, bounds);
  const { server } = entrance;
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const port = await listen(server, 'CONNECT_PORT', parts.port, parts.host);
  return {
    port,
    /** Accepts no more calls, ends streams, and resolves when running calls have ended. */
    async close(): Promise<void> {
      const closed = once(server, 'close');
      const quiet = Promise.withResolvers<void>();
      idle = quiet.resolve;
      entrance.stop();
      shutdown.abort();
      const deadline = setTimeout(idle, DRAIN_MS);
      if (answering.size === 0) idle();
      await quiet.promise;
      clearTimeout(deadline);
      // A closing session may still be sending the end of an answer.
      if (await settlesWithin(LAST_BYTES_MS, closed)) return;
      for (const socket of sockets) socket.destroy();
      await settlesWithin(LAST_BYTES_MS, closed);
    },
  };
}

const DRAIN_MS = 8_000;
const LAST_BYTES_MS = 250;
