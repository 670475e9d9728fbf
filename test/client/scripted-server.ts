/** A server that answers what a test says, in turn, and keeps what it was sent. */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { Holdfast, type HoldfastOptions } from '../../client/holdfast.ts';
import { serveLocally } from '../local-server.ts';

export interface Asked {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type Reply = (response: ServerResponse) => void;

/** Answers with JSON; a status above 399 as a problem. */
export function json(status: number, body: object, headers: Record<string, string> = {}): Reply {
  const type = status >= 400 ? 'application/problem+json' : 'application/json';
  return (response) => response.writeHead(status, { 'content-type': type, ...headers }).end(JSON.stringify(body));
}

/** A refusal with a code. */
export function problem(status: number, code: string, more: object = {}, headers: Record<string, string> = {}): Reply {
  return json(status, { type: `/docs/refusals#${code}`, code, title: code, detail: `${code}.`, ...more }, headers);
}

export const cutBefore: Reply = (response) => response.destroy();
export const cutWithin: Reply = (response) => {
  response.writeHead(201, { 'content-type': 'application/json', 'content-length': '100' });
  response.write('{"requestId":"');
  setImmediate(() => response.destroy());
};
/** Said to end where the connection ends, so that nothing but its text shows that it is cut off. */
const cutWithStatus =
  (status: number): Reply =>
  (response) => {
    response.useChunkedEncodingByDefault = false;
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
    response.write('{"requestId":"');
    response.end();
  };
export const cutWithoutLength = cutWithStatus(201);
export const cutRefusal = cutWithStatus(404);
export const html =
  (status: number): Reply =>
  (response) =>
    response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>Proxy</h1>');

/** Serves the replies in turn, the last one for ever. */
export async function serveScript(replies: readonly Reply[], options: Partial<HoldfastOptions> = {}) {
  const asked: Asked[] = [];
  const server = await serveLocally(async (request, response) => {
    const { method, url: path, headers } = request;
    asked.push({ method, path, headers, body: await text(request) });
    (replies[asked.length - 1] ?? (replies.at(-1) as Reply))(response);
  });
  const holdfast = new Holdfast({ baseUrl: server.url, apiKey: 'hf_key', ...options });
  return { asked, holdfast, baseUrl: server.url, [Symbol.asyncDispose]: () => server.close() };
}
