/** The door for everyone else: Connect, gRPC-Web, gRPC and plain JSON, over HTTP/1.1 and HTTP/2 on one port, in clear or over TLS. */
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  createServer as createHttp2Server,
  createSecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Interceptor } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import type { DoorTls } from '../../../proto/tls.ts';
import type { MountedService } from './services.ts';

/** A listening door. */
export interface ConnectDoor {
  readonly port: number;
  /** Stops taking calls, ends streams, and answers when running calls are done. */
  close(): Promise<void>;
}

export interface ConnectDoorParts {
  readonly services: readonly MountedService[];
  readonly interceptors: Interceptor[];
  readonly host: string;
  readonly port: number;
  readonly tls: DoorTls | undefined;
}

const READ_MAX_BYTES = 1024 * 1024;
const MAX_TIMEOUT_MS = 60_000;

/** Opens the door. Rejects when the port is taken. */
export async function openConnectDoor(parts: ConnectDoorParts): Promise<ConnectDoor> {
  const shutdown = new AbortController();
  const adapter = connectNodeAdapter({
    routes: (router) => {
      for (const { service, implementation } of parts.services) router.service(service, implementation);
    },
    interceptors: parts.interceptors,
    readMaxBytes: READ_MAX_BYTES,
    maxTimeoutMs: MAX_TIMEOUT_MS,
    shutdownSignal: shutdown.signal,
    jsonOptions: { ignoreUnknownFields: false },
  });
  const answering = new Set<object>();
  let idle = () => {};
  const handler: Handler = (request, response) => {
    answering.add(response);
    response.once('close', () => {
      answering.delete(response);
      if (answering.size === 0) idle();
    });
    adapter(request as never, response as never);
  };
  const entrance = parts.tls ? secureEntrance(parts.tls, handler) : clearEntrance(handler);
  const { server } = entrance;
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await listening(server, parts.host, parts.port);
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close');
      const quiet = Promise.withResolvers<void>();
      idle = quiet.resolve;
      entrance.stop();
      shutdown.abort();
      const deadline = setTimeout(idle, DRAIN_MS);
      if (answering.size === 0) idle();
      await quiet.promise;
      clearTimeout(deadline);
      // The last bytes of an answer may still be on their way through a session that is closing.
      setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, LAST_BYTES_MS).unref();
      await closed;
    },
  };
}

type Handler = (request: Http2ServerRequest | IncomingMessage, response: Http2ServerResponse | ServerResponse) => void;

/** A server, and how it stops taking connections and calls. */
interface Entrance {
  readonly server: Server;
  stop(): void;
}

/** TLS tells both versions of HTTP apart while shaking hands. */
function secureEntrance({ cert, key, clientCa }: DoorTls, handler: Handler): Entrance {
  const mutual = clientCa && { ca: clientCa, requestCert: true, rejectUnauthorized: true };
  const options = { cert, key, ...mutual, allowHTTP1: true, handshakeTimeout: FIRST_BYTES_MS };
  const server = createSecureServer(options, handler);
  return { server, stop: () => server.close() };
}

/** In clear, the first bytes tell: HTTP/2 begins with its preface. */
function clearEntrance(handler: Handler): Entrance {
  const http1 = createHttpServer({ headersTimeout: 10_000, requestTimeout: 30_000 }, handler);
  const http2 = createHttp2Server(handler);
  const strangers = new Set<Socket>();
  const server = createServer((socket) => {
    strangers.add(socket);
    socket.once('close', () => strangers.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.setTimeout(FIRST_BYTES_MS, () => socket.destroy());
    socket.once('data', (first) => {
      strangers.delete(socket);
      socket.setTimeout(0);
      socket.pause();
      socket.unshift(first);
      const isHttp2 = first.subarray(0, 3).toString('latin1') === 'PRI';
      (isHttp2 ? http2 : http1).emit('connection', socket);
      process.nextTick(() => socket.resume());
    });
  });
  const stop = () => {
    server.close();
    http1.closeIdleConnections();
    http1.close();
    http2.close();
    for (const socket of strangers) socket.destroy();
  };
  return { server, stop };
}

const FIRST_BYTES_MS = 10_000;
const DRAIN_MS = 8_000;
const LAST_BYTES_MS = 250;

async function listening(server: Server, host: string, port: number): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new Error(`CONNECT_PORT ${port} cannot be used: ${(error as Error).message}`, { cause: error });
  }
}
