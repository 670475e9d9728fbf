/** The door for everyone else: Connect, gRPC-Web, gRPC and plain JSON, over HTTP/1.1 and cleartext HTTP/2 on one port. */
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { createServer, type Server, type Socket } from 'node:net';
import type { Interceptor } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import type { MountedService } from './services.ts';

/** A listening door. */
export interface ConnectDoor {
  readonly port: number;
  /** Stops taking calls, ends streams, and answers when running calls are done. */
  close(): Promise<void>;
}

const READ_MAX_BYTES = 1024 * 1024;
const MAX_TIMEOUT_MS = 60_000;

/** Opens the door. */
export async function openConnectDoor(
  services: readonly MountedService[],
  interceptors: Interceptor[],
  host: string,
  port: number,
): Promise<ConnectDoor> {
  const shutdown = new AbortController();
  const handler = connectNodeAdapter({
    routes: (router) => {
      for (const { service, implementation } of services) router.service(service, implementation);
    },
    interceptors,
    readMaxBytes: READ_MAX_BYTES,
    maxTimeoutMs: MAX_TIMEOUT_MS,
    shutdownSignal: shutdown.signal,
    jsonOptions: { ignoreUnknownFields: false },
  });
  const http1 = createHttpServer({ headersTimeout: 10_000, requestTimeout: 30_000 }, handler);
  const http2 = createHttp2Server(handler);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.setTimeout(FIRST_BYTES_MS, () => socket.destroy());
    socket.once('data', (first) => {
      socket.setTimeout(0);
      socket.pause();
      socket.unshift(first);
      const isHttp2 = first.subarray(0, 3).toString('latin1') === 'PRI';
      (isHttp2 ? http2 : http1).emit('connection', socket);
      process.nextTick(() => socket.resume());
    });
  });
  await listening(server, host, port);
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : port,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      shutdown.abort();
      http1.closeIdleConnections();
      setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, DRAIN_MS).unref();
      http1.close();
      http2.close();
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      await closed;
    },
  };
}

const FIRST_BYTES_MS = 10_000;
const DRAIN_MS = 1_000;

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
