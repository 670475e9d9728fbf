import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';

/**
 * Times and sizes of an edge: Node's defaults (60 s for the head of a request, 300 s for all of it) are for friends. An
 * answer may take as long as it takes.
 */
const BOUNDS = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16 * 1024,
} as const;

const DRAIN_MS = 10_000;

/**
 * An HTTP server that is not listening yet, and how to stop it: `drain` accepts nothing new, lets the requests at work
 * finish within 10 s and then closes every connection. Node alone would wait for those that never sent a request, too.
 */
export function createHttpServer(listener: RequestListener): { server: Server; drain: () => Promise<void> } {
  const server = createServer(BOUNDS, listener);
  const answering = new Set<ServerResponse>();
  const drained = Promise.withResolvers<void>();
  server.on('request', (_request, response) => {
    answering.add(response);
    response.once('close', () => {
      answering.delete(response);
      if (!server.listening && answering.size === 0) drained.resolve();
    });
  });
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
  return { server, drain };
}
