import { json } from 'node:stream/consumers';
import { serveLocally } from '../../local-server.ts';

export interface Receiver {
  readonly url: string;
  /** The requestId of each acknowledged notification. */
  readonly received: ReadonlySet<string>;
  close(): Promise<void>;
}

/** Listens on a free port. */
export async function openReceiver(): Promise<Receiver> {
  const received = new Set<string>();
  const { url, close } = await serveLocally(async (request, response) => {
    const body = (await json(request).catch(() => undefined)) as { requestId?: string } | undefined;
    if (body?.requestId === undefined) return response.writeHead(400).end();
    received.add(body.requestId);
    response.end();
  });
  return { url, received, close };
}
