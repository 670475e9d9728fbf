import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { createDocument } from '../../../gateway/openapi/document.ts';
import { pageOf } from '../../../gateway/openapi/page.ts';
import { useStage } from '../stage.ts';

describe('the document, served', () => {
  const stage = useStage();

  for (const [path, type] of [
    ['/openapi.json', 'application/json; charset=utf-8'],
    ['/docs', 'text/html; charset=utf-8'],
  ] as const) {
    it(`serves ${path} publicly and cacheable`, async () => {
      const answer = await stage.ask('GET', path, { apiKey: null });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get('content-type'), type);
      assert.match(answer.headers.get('cache-control') ?? '', /^public, max-age=\d+$/);
      // Node's fetch sends Cache-Control: no-cache unless one is set.
      const headers = { 'if-none-match': answer.headers.get('etag') ?? '', 'cache-control': 'max-age=0' };
      const again = await stage.ask('GET', path, { headers });
      assert.deepEqual([again.status, again.text], [304, '']);
      assert.equal((await stage.ask('HEAD', path, { apiKey: null })).status, 200);
      assert.equal((await stage.ask('POST', path, { apiKey: null })).status, 405);
    });
  }

  it('is the document that the linter checks', async () => {
    const { body } = await stage.ask('GET', '/openapi.json', { apiKey: null });
    assert.deepEqual(body, JSON.parse(JSON.stringify(createDocument())));
  });

  it('is where / redirects, with its guides beside it', async () => {
    const home = await fetch(`${stage.origin}/`, { redirect: 'manual' });
    assert.deepEqual([home.status, home.headers.get('location')], [302, '/docs']);
    const { text } = await stage.ask('GET', '/docs', { apiKey: null });
    const guides = [...text.matchAll(/href="(\/docs\/[^"]+)"/g)].map(([, path = '']) => path);
    assert(guides.includes('/docs/merchants.md'));
    for (const path of guides) {
      const guide = await stage.ask('GET', path, { apiKey: null });
      assert.deepEqual([guide.status, guide.headers.get('content-type')], [200, 'text/plain; charset=utf-8']);
      assert.match(guide.text, /^# /);
    }
  });

  for (const path of ['/docs', '/console']) {
    it(`is found with a slash behind ${path}`, async () => {
      const answer = await fetch(`${stage.origin}${path}/`, { redirect: 'manual' });
      assert.deepEqual([answer.status, answer.headers.get('location')], [301, path]);
    });
  }

  it('names the address at which it is read', async () => {
    const { text } = await stage.ask('GET', '/docs', { apiKey: null });
    assert(text.includes(`curl &#34;${stage.origin}/preauthorization&#34;`), 'in the first lesson');
    assert(text.includes(`curl -X POST &#34;${stage.origin}/preauthorization&#34;`), 'in the sample of a route');
    assert(!text.includes('holdfast.example'));
    const odd = await stage.ask('GET', '/docs', { headers: { host: 'a$(id).example' } }).catch(() => undefined);
    assert(!odd?.text.includes('$(id)'));
  });

  it('costs the same under however many names it is asked for', async () => {
    const microsecondsOf = async (make: () => unknown) => {
      const before = process.cpuUsage();
      for (let times = 0; times < 20; times++) await make();
      return process.cpuUsage(before).user;
    };
    let port = 0;
    const ask = async () => {
      const head = request(`${stage.origin}/docs`, { method: 'HEAD', headers: { host: `a.example:${++port}` } });
      const [answer] = (await once(head.end(), 'response')) as [IncomingMessage];
      assert.equal(answer.resume().statusCode, 200);
    };
    const document = createDocument();
    await ask();
    const [asked, built] = [await microsecondsOf(ask), await microsecondsOf(() => pageOf(document))];
    assert(asked < built, `${asked} < ${built}`);
  });

  it('has no broken link within itself', async () => {
    const { text } = await stage.ask('GET', '/docs', { apiKey: null });
    const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    assert.equal(new Set(ids).size, ids.length);
    const [markup = ''] = text.split('<script>');
    for (const [, id] of markup.matchAll(/href="#([^"]+)"/g)) assert(ids.includes(id), id);
  });

  it('says of a number without an upper bound that more is possible', async () => {
    const { text } = await stage.ask('GET', '/docs', { apiKey: null });
    assert(text.includes('<td><code>attemptCount</code></td>\n<td><b>required</b>, integer, 0 or more</td>'));
    assert.doesNotMatch(text, /, \d* to *<\/td>/);
  });

  it("separates operators' routes from merchants'", async () => {
    const { text } = await stage.ask('GET', '/docs', { apiKey: null });
    const [merchants = '', operators = ''] = text.split('<div id="operators">');
    assert(merchants.includes('<article id="createPreauthorization">'));
    assert(!merchants.includes('<article id="createMerchant">'));
    assert(operators.includes('<article id="createMerchant">'));
  });

  it('is readable without JavaScript, and loads only the style sheet and script that the policy allows', async () => {
    const { text, headers } = await stage.ask('GET', '/docs', { apiKey: null });
    const policy = headers.get('content-security-policy') ?? '';
    assert.match(
      policy,
      /^default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    for (const part of [/<style>(.*?)<\/style>/s, /<script>(.*?)<\/script>/s]) {
      const [, source = ''] = part.exec(text) ?? [];
      assert(policy.includes(`'sha256-${createHash('sha256').update(source).digest('base64')}'`));
    }
    assert.match(text, /<div role="search" hidden>/, 'controls that need the script are hidden without it');
    assert.doesNotMatch(text, /<script .|<link|<img|\bstyle=|\bsrc=|\bon\w+=|\[object Object\]|undefined/);
    assert.deepEqual(text.match(/(?:href|action)="(?!#|\/)[^"]*"/g), null);
  });

  it('has an anchor for every route, webhook and code', async () => {
    const { text } = await stage.ask('GET', '/docs', { apiKey: null });
    const { paths, webhooks, components } = createDocument();
    for (const methods of Object.values(paths)) {
      for (const { operationId } of Object.values(methods)) assert(text.includes(`<article id="${operationId}">`));
    }
    for (const name of Object.keys(webhooks as object)) assert(text.includes(`<article id="${name}">`));
    for (const code of Object.keys(components.examples as object)) assert(text.includes(`<code>${code}</code>`));
  });
});
