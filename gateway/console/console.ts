import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type Router from '@koa/router';
import type { Context } from 'koa';
import { answerCached, type CachedResponse, cached } from '../http/etag-cache.ts';
import { createRouter } from '../http/route.ts';

/**
 * The console's pages may run, style and call only what this origin serves. Trusted types make the browser refuse text
 * that becomes markup, whatever the code does.
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

const PAGE = new URL('./page/', import.meta.url);

/** Packages that the page imports; each is one file. */
const PACKAGES = ['preact', 'preact/hooks', 'htm'];

/** Everything that the console may serve, by path. */
export function readAssets(): Map<string, CachedResponse> {
  const assets = new Map<string, CachedResponse>();
  for (const name of readdirSync(PAGE, { recursive: true, encoding: 'utf8' })) {
    const isFolder = extname(name) === '';
    if (!isFolder) assets.set(name === 'index.html' ? '/console' : `/console/${name}`, assetOf(new URL(name, PAGE)));
  }
  for (const name of PACKAGES) assets.set(pathOf(name), assetOf(new URL(import.meta.resolve(name))));
  return assets;
}

function pathOf(packageName: string): string {
  return `/console/packages/${packageName.replace('/', '-')}.js`;
}

function assetOf(url: URL): CachedResponse {
  const type = extname(url.pathname).replace('.mjs', '.js');
  const text = readFileSync(url, 'utf8');
  return cached(type, Buffer.from(type === '.js' ? forBrowser(text) : text));
}

/**
 * A browser knows no packages without an import map, and those only inline, which the policy forbids: so paths are put
 * in.
 */
function forBrowser(text: string): string {
  return text
    .replace(/(\bfrom\s*["'])([^"'./][^"']*)/g, (_, from: string, name: string) => from + pathOf(name))
    .replace(/^\/\/# sourceMappingURL=.*$/gm, '');
}
