import { json } from 'node:stream/consumers';
import { serveLocally } from '../../local-server.ts';

/** The body of a notification, as far as it is looked at. */
export interface Notification {
  readonly requestId: string;
  readonly operation: string;
  readonly status: 'OK' | 'KO';
  readonly amount: number;
  readonly reference?: string;
  readonly holdRequestId?: string;
  readonly imported?: true;
}

/** Listens on a free port. */
export async function openReceiver() {
  /**
   * The acknowledged notifications by requestId, without those that were delivered under the same webhook-id before.
   */
  const received = new Map<string, Notification[]>();
  const seen = new Set<string>();
  const { url, close } = await serveLocally(async (request, response) => {
    const body = (await json(request).catch(() => undefined)) as Notification | undefined;
    if (body?.requestId === undefined) return response.writeHead(400).end();
    const id = String(request.headers['webhook-id']);
    if (!seen.has(id)) received.set(body.requestId, [...(received.get(body.requestId) ?? []), body]);
    seen.add(id);
    response.end();
  });
  return { url, received: received as ReadonlyMap<string, readonly Notification[]>, close };
}
