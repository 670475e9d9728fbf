import { once } from 'node:events';
import type { RequestListener, Server, ServerResponse } from 'node:http';
import { createHttpDoor } from '../../platform/http-server.ts';
import { listenWidely } from './reuse-port.ts';

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
