import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, RequestListener } from 'node:http';
import { openBodyRoom } from '../body-room.ts';
import { errorFields, type Log } from '../log.ts';
import { readBody, UNREAD_STATUS } from '../read-body.ts';

/** An answer: a status, a text, and headers besides the usual ones. */
type Reply = readonly [status: number, text?: string, headers?: OutgoingHttpHeaders];

/** Answers of `GET`, by path. */
export type Pages = Readonly<Record<string, (headers: IncomingHttpHeaders) => Reply | Promise<Reply>>>;

/** How an adapter takes its processor's webhooks. */
export interface Webhooks {
  /** Where webhooks are posted. */
  readonly path: string;
  /** Verifies and stores a webhook. What it throws is answered 503, and the processor sends it again. */
  take(body: Buffer, headers: IncomingHttpHeaders): Promise<Reply>;
}

/** Of one body; a processor's are a few KiB, and come at once. */
const BOUNDS = { maxBytes: 1024 * 1024, timeoutMs: 5_000 };

/**
 * Nobody is known before the signature is checked, so what unchecked bodies can take of the memory is limited. What has
 * to give way is sent again.
 */
const MOST_BYTES = 32 * 1024 * 1024;

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
};

/** Answers the requests of an adapter's HTTP server. */
export function answerHttp(log: Log, pages: Pages, webhooks?: Webhooks, bounds = BOUNDS): RequestListener {
  const shared = openBodyRoom(MOST_BYTES);
  const answer = async (request: IncomingMessage): Promise<Reply> => {
    const { method, url = '', headers } = request;
    const path = url.split('?', 1)[0] ?? '';
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
    if (page) return method === 'GET' ? page(headers) : [405];
    if (path !== webhooks?.path) return [404];
    if (method !== 'POST') return [405];
    const address = request.socket.remoteAddress ?? '';
    // The bytes as they came: a signature may be over them.
    const body = await readBody(request, { ...bounds, room: { shared, address } });
    // The rest of a body that is not read whole stays in its connection, which cannot be reused.
    if (typeof body === 'string') return [UNREAD_STATUS[body], '', { connection: 'close' }];
    return webhooks.take(body, headers);
  };
  return (request, response) => {
    answer(request).then(
      ([status, text = '', headers]) => {
        response.writeHead(status, { ...HEADERS, ...headers }).end(text);
      },
      (error: unknown) => {
        log.error('request failed', errorFields(error));
        response.writeHead(503, HEADERS).end();
      },
    );
  };
}
