import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { readBody } from '../http-server.ts';
import { errorFields, type Log } from '../log.ts';

/** An answer: a status, and a text. */
export type Reply = readonly [status: number, text?: string];

/** How an adapter takes its processor's webhooks. */
export interface Webhooks {
  /** Where webhooks are posted. */
  readonly path: string;
  /** Verifies and stores a webhook. What it throws is answered 503, and the processor sends it again. */
  take(body: Buffer, headers: IncomingHttpHeaders): Promise<Reply>;
  /** Answers `GET` of other paths. */
  readonly pages?: Readonly<Record<string, () => Reply | Promise<Reply>>>;
}

/** What answers them. */
interface WebhookServer extends Required<Webhooks> {
  readonly log: Log;
}

const LONGEST_BODY = 1024 * 1024;

/**
 * Nobody is known before the signature is checked, so what unchecked bodies can take of the memory is limited. They are
 * sent again.
 */
const MOST_BODIES = 32;

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
};

/** Answers a webhook server. */
export function openWebhookServer(
  webhooks: WebhookServer,
): (request: IncomingMessage, response: ServerResponse) => void {
  const reading = new Set<IncomingMessage>();
  return (request, response) => {
    answer(webhooks, request, reading).then(
      ([status, text = '']) => {
        // The rest of a body that is not read whole stays in its connection, which cannot be reused.
        const isUnread = status === 413 || status === 503;
        response.writeHead(status, { ...HEADERS, ...(isUnread && { connection: 'close' }) }).end(text);
      },
      (error: unknown) => {
        webhooks.log.error('webhook failed', errorFields(error));
        response.writeHead(503, HEADERS).end();
      },
    );
  };
}

async function answer(
  webhooks: WebhookServer,
  request: IncomingMessage,
  reading: Set<IncomingMessage>,
): Promise<Reply> {
  const path = request.url?.split('?', 1)[0] ?? '';
  const page = Object.hasOwn(webhooks.pages, path) ? webhooks.pages[path] : undefined;
  if (page && request.method === 'GET') return page();
  if (path !== webhooks.path) return [404];
  if (request.method !== 'POST') return [405];
  if (reading.size >= MOST_BODIES) return [503];
  reading.add(request);
  // The bytes as they came: a signature may be over them.
  const body = await readBody(request, LONGEST_BODY).finally(() => reading.delete(request));
  return body ? webhooks.take(body, request.headers) : [413];
}
