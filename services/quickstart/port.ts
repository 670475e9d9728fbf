/** TCP ports on this machine. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Finds a free port between 20 000 and 30 000: below the range of outgoing connections, so that the system does not give it away while its
 * process restarts. Never returns the same port twice, because the caller may not listen on the first one yet.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 30_000);
    if (given.has(port) || (await listenFault(port)) !== undefined) continue;
    given.add(port);
    return port;
  }
}

const given = new Set<number>();

/** Node's error code when a port cannot be listened on, such as EADDRINUSE or EACCES; undefined when it can. */
export async function listenFault(port: number): Promise<string | undefined> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  } finally {
    server.close();
  }
}
