import assert from 'node:assert/strict';
import { readAssets } from '../../../gateway/console/console.ts';
import { useStage } from '../stage.ts';

describe('GET /console', () => {
  const stage = useStage();
  const get = (path: string, headers = {}) => stage.ask('GET', path, { apiKey: null, headers });

  it('forbids everything that is not of the same origin', async () => {
    const { status, headers } = await get('/console');
    assert.equal(status, 200);
    assert.equal(headers.get('content-type'), 'text/html; charset=utf-8');
    const policy = new Set(headers.get('content-security-policy')?.split('; '));
    for (const directive of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "img-src 'self' data:",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "form-action 'none'",
    ])
      assert(policy.delete(directive), directive);
    assert.deepEqual([...policy], ["require-trusted-types-for 'script'"]);
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
  });

  it('serves every file that its pages name, under the same policy', async () => {
    const seen = new Set<string>();
    const open = ['/console'];
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      if (seen.has(path)) continue;
      seen.add(path);
      const { status, text, headers } = await get(path);
      assert.equal(status, 200, path);
      assert.match(headers.get('content-security-policy') ?? '', /^default-src 'none'; script-src 'self';/);
      const named = [...text.matchAll(/\bfrom\s*["']([^"']+)["']|\b(?:src|href)="(\/[^"]+)"/g)];
      open.push(...named.map(([, module, file]) => new URL(module ?? file ?? '', stage.origin + path).pathname));
    }
    assert.deepEqual([...seen].sort(), [...readAssets().keys()].sort());
  });

  it('lets a browser cache a file until it changes', async () => {
    const { headers } = await get('/console/app.js');
    assert.equal(headers.get('cache-control'), 'no-cache');
    // As a browser does; Node's fetch() would bypass the cache.
    const revalidating = { 'cache-control': 'max-age=0' };
    const again = await get('/console/app.js', { 'if-none-match': headers.get('etag'), ...revalidating });
    assert.deepEqual([again.status, again.text], [304, '']);
    assert.equal((await get('/console/app.js', { 'if-none-match': '"other"', ...revalidating })).status, 200);
  });

  for (const path of [
    '/console/console.ts',
    '/console/..%2fconsole.ts',
    '/console/%2e%2e/console.ts',
    '/console/page/app.js',
    '/console/packages/koa.js',
    '/console/packages/',
    '/console/index.html',
  ]) {
    it(`does not serve ${path}`, async () => assert.equal((await get(path)).status, 404));
  }

  it('accepts no other method', async () => {
    assert.equal((await stage.ask('POST', '/console', { apiKey: null, body: {} })).status, 405);
  });
});

describe('the files of the console', () => {
  const own = [...readAssets()].filter(([path]) => !path.startsWith('/console/packages/'));

  for (const [path, { body }] of own) {
    it(`${path} names no other origin and builds no markup from text`, () => {
      const text = body.toString().replaceAll('http://www.w3.org/2000/svg', '');
      assert.doesNotMatch(text, /https?:|innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|\sstyle=/);
    });
  }
});
