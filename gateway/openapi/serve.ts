import { createHash } from 'node:crypto';
import type Router from '@koa/router';
import { answerKept, keep } from '../kept.ts';
import { createRouter } from '../route.ts';
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
  const json = keep('json', JSON.stringify(document));
  const page = keep('html', pageOf(document));
  const router = createRouter();
  router.get('/openapi.json', (ctx) => {
    ctx.set('Access-Control-Allow-Origin', '*');
    ctx.set('Cross-Origin-Resource-Policy', 'cross-origin');
    ctx.set('Cache-Control', CACHE);
    answerKept(ctx, json);
  });
  router.get('/docs', (ctx) => {
    ctx.set('Content-Security-Policy', POLICY);
    ctx.set('Cache-Control', CACHE);
    answerKept(ctx, page);
  });
  return router;
}
