import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type Router from '@koa/router';
import type { Context } from 'koa';
import { answerCached, type CachedResponse, cached } from '../http/etag-cache.ts';
import { createRouter } from '../http/route.ts';

/**
 * What the console's pages may do: run, style and call what this origin serves, and nothing else. Trusted types make
 * the browser refuse text that becomes markup, whatever the code says.
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

const TYPES: Readonly<Record<string, string>> = { '.html': 'html', '.css': 'css', '.js': 'text/javascript' };

/** Packages that the page imports, and the path of the one file that each of them is. */
const PACKAGES: Readonly<Record<string, string>> = {
  preact: '/console/packages/preact.js',
  'preact/hooks': '/console/packages/preact-hooks.js',
  htm: '/console/packages/htm.js',
};

/** Everything that the console may serve, by path. */
export function readAssets(): Map<string, CachedResponse> {
  const assets = new Map<string, CachedResponse>();
  for (const entry of readdirSync(PAGE, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const url = pathToFileURL(join(entry.parentPath, entry.name));
    const name = url.pathname.slice(PAGE.pathname.length);
    assets.set(name === 'index.html' ? '/console' : `/console/${name}`, assetOf(url));
  }
  for (const [specifier, path] of Object.entries(PACKAGES)) {
    assets.set(path, assetOf(new URL(import.meta.resolve(specifier))));
  }
  return assets;
}

function assetOf(url: URL): CachedResponse {
  const ending = extname(url.pathname).replace('.mjs', '.js');
  const type = TYPES[ending];
  assert(type, `${url.pathname} is nothing that a browser is served`);
  const text = readFileSync(url, 'utf8');
  return cached(type, Buffer.from(ending === '.js' ? forBrowser(text) : text));
}

/**
 * A browser knows no packages without an import map, and those only inline, which the policy forbids: so paths are put
 * in.
 */
function forBrowser(text: string): string {
  return text
    .replace(/(\bfrom\s*)(["'])([^"'./][^"']*)\2/g, (_, from: string, quote: string, specifier: string) => {
      const path = PACKAGES[specifier];
      assert(path, `the console imports ${specifier}, which is not served`);
      return from + quote + path + quote;
    })
    .replace(/^\/\/# sourceMappingURL=.*$/gm, '');
}
