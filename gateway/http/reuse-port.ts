import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';

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
export async function listenWidely(
  server: HttpServer,
  port: number,
  host: string,
): Promise<{ port: number; close(): void }> {
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

async function listening(server: Server, options: object): Promise<void> {
  await once(server.listen(options), 'listening');
}
