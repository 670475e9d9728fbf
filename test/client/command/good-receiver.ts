/** A receiver as the documents want it, which a test spoils in one respect. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { InvalidNotification, verify } from '../../../client/webhooks/verify.ts';
import { serveLocally } from '../../local-server.ts';

export const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** One request, once its body is read. */
export interface Received {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly raw: Buffer;
  /** In how many pieces the body came. */
  readonly pieces: number;
  /** The body, {} when it is no JSON object. */
  readonly json: Readonly<Record<string, unknown>>;
  /** How often a genuine notification of the same requestId came before. */
  readonly before: number;
  /** What the good receiver answers. */
  readonly good: number;
}

/** Returns the status to answer; 0 closes the connection without an answer. */
export type Spoil = (received: Received) => number | Promise<number>;

/** Serves it. It answers `GET /effects/{requestId}` with how often it acted on the notification. */
export async function serveReceiver(spoil: Spoil = ({ good }) => good, actsTwice = false) {
  const seen = new Map<string, number>();
  const acted = new Map<string, number>();
  const server = await serveLocally(async (request, response) => {
    let pieces = 0;
    request.on('data', () => pieces++);
    const raw = await buffer(request).catch(() => undefined);
    if (raw === undefined) return;
    if (request.url?.startsWith('/effects/')) {
      response.end(String(acted.get(request.url.slice('/effects/'.length)) ?? 0));
      return;
    }
    const json = jsonOf(raw);
    const requestId = String(json.requestId);
    const before = seen.get(requestId) ?? 0;
    const isGenuine = verifies(request, raw);
    if (isGenuine) seen.set(requestId, before + 1);
    const isToBook = json.test !== true && json.operation !== 'CHECK_RECEIVER';
    const isNew = before === 0 && isToBook;
    if (isGenuine && (isNew || actsTwice)) acted.set(requestId, (acted.get(requestId) ?? 0) + 1);
    const good = isGenuine ? 200 : 401;
    const status = await spoil({ request, response, raw, pieces, json, before, good });
    if (status === 0) request.socket.destroy();
    else response.writeHead(status).end();
  });
  return { ...server, effects: `${server.url}/effects` };
}

function verifies(request: IncomingMessage, raw: Buffer): boolean {
  try {
    verify(request.headers, raw, [SECRET]);
    return true;
  } catch (error) {
    if (error instanceof InvalidNotification) return false;
    throw error;
  }
}

function jsonOf(raw: Buffer): Record<string, unknown> {
  try {
    const value = JSON.parse(raw.toString());
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
