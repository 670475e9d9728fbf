import type Router from '@koa/router';
import type { Context } from 'koa';
import { answerCached, type CachedResponse } from '../http/etag-cache.ts';
import { createRouter } from '../http/route.ts';
import { readAssets } from './assets.ts';

/**
 * What the console's pages may do: run, style and call what this origin serves, and nothing else. Trusted types make the browser
 * refuse text that becomes markup, whatever the code says.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

/** GET /console and the files it is made of, each under its own path; there is no other. Reads them once. */
export function createConsole(): Router {
  const router = createRouter();
  for (const [path, asset] of readAssets()) router.get(path, (ctx) => answer(ctx, asset));
  return router;
}

/** The files change with the release, so a browser may keep them and must ask each time whether they still hold. */
function answer(ctx: Context, asset: CachedResponse): void {
  ctx.set({
    'Cache-Control': 'no-cache',
    'Content-Security-Policy': POLICY,
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
    'X-Robots-Tag': 'noindex',
  });
  answerCached(ctx, asset);
}
