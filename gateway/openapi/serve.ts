import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type Router from '@koa/router';
import type { Context } from 'koa';
import { answerCached, type CachedResponse, cached } from '../http/etag-cache.ts';
import { REFUSALS_PATH } from '../http/refusals.ts';
import { createRouter } from '../http/route.ts';
import { AUDIENCES, type Audience, createDocument } from './document.ts';
import { GUIDES, PLACEHOLDER } from './introduction.ts';
import { SCRIPT, STYLE } from './layout.ts';
import { pageOf } from './page.ts';
import { refusalsPage } from './refusals-page.ts';

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The pages load nothing; their inline style sheet and script are allowed by their hashes. */
const POLICY = [
  "default-src 'none'",
  `style-src ${hashOf(STYLE)}`,
  `script-src ${hashOf(SCRIPT)}`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The address at which the reader reads, for the commands of the page. A Host that is no host name is not repeated. */
function originOf({ protocol, host }: Context): string {
  return /^[A-Za-z0-9.:[\]-]{1,255}$/.test(host) ? `${protocol}://${host}` : PLACEHOLDER;
}

/** The documents change only with a release. */
const CACHE = 'public, max-age=300';

/**
 * GET /openapi.json and /openapi/merchant.json: the documents. GET /docs and /docs/merchant: the same as pages, with
 * guides and the refusals beside them; / leads to /docs. All are built once, when they are first asked for: building
 * takes longer than all else at the start of a gateway.
 */
export function serveDocument(): Router {
  const router = createRouter();
  for (const audience of Object.keys(AUDIENCES) as Audience[]) serveAudience(router, audience);
  const refusals = once(() => cached('html', refusalsPage()));
  router.get(REFUSALS_PATH, (ctx) => {
    ctx.set('Content-Security-Policy', POLICY);
    ctx.set('Cache-Control', CACHE);
    answerCached(ctx, refusals());
  });
  // A slash too many, as some links and people write it.
  for (const path of [AUDIENCES.all.page, AUDIENCES.merchant.page, REFUSALS_PATH, '/console']) {
    router.get(`${path}/`, (ctx) => {
      ctx.status = 301;
      ctx.redirect(path);
    });
  }
  for (const file of Object.keys(GUIDES)) {
    const guide = cached('text/plain', readFileSync(new URL(`../../docs/${file}`, import.meta.url)));
    router.get(`/docs/${file}`, (ctx) => {
      ctx.set('Cache-Control', CACHE);
      answerCached(ctx, guide);
    });
  }
  router.get('/', (ctx) => ctx.redirect('/docs'));
  return router;
}

/** The document of an audience, and its page. */
function serveAudience(router: Router, audience: Audience): void {
  const document = once(() => createDocument(audience));
  const json = once(() => cached('json', JSON.stringify(document())));
  const html = once(() => ({ text: pageOf(document(), audience) }));
  let latest: { readonly origin: string; readonly page: CachedResponse } | undefined;
  router.get(AUDIENCES[audience].json, (ctx) => {
    ctx.set('Access-Control-Allow-Origin', '*');
    ctx.set('Cross-Origin-Resource-Policy', 'cross-origin');
    ctx.set('Cache-Control', CACHE);
    answerCached(ctx, json());
  });
  router.get(AUDIENCES[audience].page, (ctx) => {
    ctx.set('Content-Security-Policy', POLICY);
    ctx.set('Cache-Control', CACHE);
    ctx.vary('Host');
    const origin = originOf(ctx);
    if (latest?.origin !== origin)
      latest = { origin, page: cached('html', html().text.replaceAll(PLACEHOLDER, origin)) };
    answerCached(ctx, latest.page);
  });
}

function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
