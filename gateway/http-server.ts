import { once } from 'node:events';
import type { RequestListener, Server, ServerResponse } from 'node:http';
import { createHttpDoor } from '../proto/http-door.ts';

const DRAIN_MS = 10_000;

/**
 * An HTTP server that is not listening yet, and how to stop it: `drain` accepts nothing new, lets the requests at work
 * finish within 10 s and then closes every connection. Node alone would wait for those that never sent a request, too.
 */
export function createHttpServer(listener: RequestListener): { server: Server; drain: () => Promise<void> } {
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
