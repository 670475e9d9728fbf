/** A merchant's backend that accepts every notification and records the requestIds. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export interface Receiver {
  readonly url: string;
  /** The requestId of each acknowledged notification. */
  readonly received: ReadonlySet<string>;
  close(): Promise<void>;
}

/** Listens on a free port. */
export async function openReceiver(): Promise<Receiver> {
  const received = new Set<string>();
  const server = createServer(async (request, response) => {
    const body = (await json(request).catch(() => undefined)) as { requestId?: string } | undefined;
    if (body?.requestId === undefined) return response.writeHead(400).end();
    received.add(body.requestId);
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
