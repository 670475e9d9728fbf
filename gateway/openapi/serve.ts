import { createHash } from 'node:crypto';
import Router from '@koa/router';
import type { Context } from 'koa';
import { createDocument } from './document.ts';
import { pageOf, STYLE } from './page.ts';

/** Nothing runs on the page and nothing is fetched: it is text, and its one style sheet is known by its hash. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** What may be kept, and for how long: the document changes with the release. */
const CACHE = 'public, max-age=300';

/** GET /openapi.json: the document. GET /docs: the same for people. Both are made once and the same for everybody. */
export function serveDocument(): Router {
  const document = createDocument();
  const json = keep(JSON.stringify(document));
  const page = keep(pageOf(document));
  const router = new Router();
  router.get('/openapi.json', (ctx) => {
    ctx.set('Access-Control-Allow-Origin', '*');
    ctx.set('Cross-Origin-Resource-Policy', 'cross-origin');
    answer(ctx, json, 'json');
  });
  router.get('/docs', (ctx) => {
    ctx.set('Content-Security-Policy', POLICY);
    answer(ctx, page, 'html');
  });
  return router;
}

interface Kept {
  readonly body: string;
  readonly etag: string;
}

function keep(body: string): Kept {
  return { body, etag: createHash('sha256').update(body).digest('base64url') };
}

function answer(ctx: Context, { body, etag }: Kept, type: string): void {
  ctx.set('Cache-Control', CACHE);
  ctx.status = 200;
  ctx.etag = etag;
  ctx.type = type;
  if (ctx.fresh) ctx.status = 304;
  else ctx.body = body;
}
