import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type CachedResponse, cached } from '../http/etag-cache.ts';

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

/** A browser knows no packages without an import map, and those only inline, which the policy forbids: so paths are put in. */
function forBrowser(text: string): string {
  return text
    .replace(/(\bfrom\s*)(["'])([^"'./][^"']*)\2/g, (_, from: string, quote: string, specifier: string) => {
      const path = PACKAGES[specifier];
      assert(path, `the console imports ${specifier}, which is not served`);
      return from + quote + path + quote;
    })
    .replace(/^\/\/# sourceMappingURL=.*$/gm, '');
}
