import type { ServerResponse } from 'node:http';
import { serveLocally } from '../../local-server.ts';

/** The record of one notification. */
export interface Told {
  readonly webhookIds: Set<string>;
  readonly bodies: Set<string>;
  readonly signatures: Set<string>;
  attempts: number;
  /** The attempts that were answered 200. */
  taken: number;
}

/**
 * Opens a receiver on this machine that fails a share of attempts, of each delivery at most so many: later ones are
 * minutes apart.
 */
export async function openFaultyReceiver(share: number, most: number, random: () => number) {
  const told = new Map<string, Told>();
  const counts = { attempts: 0, failed: 0 };
  const { url, close } = await serveLocally(async (request, response) => {
    try {
      let body = '';
      for await (const chunk of request.setEncoding('utf8')) body += chunk;
      const { requestId } = JSON.parse(body) as { requestId: string };
      const each = told.get(requestId) ?? fresh();
      told.set(requestId, each);
      each.webhookIds.add(String(request.headers['webhook-id']));
      each.signatures.add(String(request.headers['x-service-signature']));
      each.bodies.add(body);
      each.attempts++;
      counts.attempts++;
      if (each.attempts <= most && random() < share) {
        counts.failed++;
        fail(response, random());
      } else {
        each.taken++;
        response.end();
      }
    } catch {
      // The worker was killed in the middle of its request: nothing was accepted.
      response.destroy();
    }
  });
  return { url, told, counts, close };
}

function fresh(): Told {
  return { webhookIds: new Set(), bodies: new Set(), signatures: new Set(), attempts: 0, taken: 0 };
}

/** An error, no answer at all, or the beginning of a head. */
function fail(response: ServerResponse, how: number): void {
  if (how < 0.6) response.writeHead(500).end('no');
  else if (how < 0.8) response.destroy();
  else response.socket?.write('HTTP/1.1 200 OK\r\ncontent-length: 1', () => response.destroy());
}
