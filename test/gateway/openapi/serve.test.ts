import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { AUDIENCES, type Audience, createDocument } from '../../../gateway/openapi/document.ts';
import { pageOf } from '../../../gateway/openapi/page.ts';
import { ErrorReason } from '../../../proto/gen/holdfast/v1/error_pb.js';
import { useStage } from '../stage.ts';

const PAGES = ['/docs', '/docs/merchant', '/docs/refusals'];

describe('the document, served', () => {
  const stage = useStage();

  for (const [path, type] of [
    ['/openapi.json', 'application/json; charset=utf-8'],
    ['/openapi/merchant.json', 'application/json; charset=utf-8'],
    ['/docs', 'text/html; charset=utf-8'],
    ['/docs/merchant', 'text/html; charset=utf-8'],
    ['/docs/refusals', 'text/html; charset=utf-8'],
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
    for (const [audience, { json }] of Object.entries(AUDIENCES)) {
      const { body, headers } = await stage.ask('GET', json, { apiKey: null });
      assert.deepEqual(body, JSON.parse(JSON.stringify(createDocument(audience as Audience))));
      assert.equal(headers.get('access-control-allow-origin'), '*');
    }
  });

  it('is where / redirects, with its guides beside it', async () => {
    const home = await fetch(`${stage.origin}/`, { redirect: 'manual' });
    assert.deepEqual([home.status, home.headers.get('location')], [302, '/docs']);
    const { text } = await stage.ask('GET', '/docs', { apiKey: null });
    const guides = [...text.matchAll(/href="(\/docs\/[^"]+\.md)"/g)].map(([, path = '']) => path);
    assert(guides.includes('/docs/merchants.md'));
    for (const path of guides) {
      const guide = await stage.ask('GET', path, { apiKey: null });
      assert.deepEqual([guide.status, guide.headers.get('content-type')], [200, 'text/plain; charset=utf-8']);
      assert.match(guide.text, /^# /);
    }
  });

  for (const path of [...PAGES, '/console']) {
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
    // The cheapest quarter: garbage of other tests is collected in the rest.
    const microsecondsOf = async (make: () => unknown) => {
      const used: number[] = [];
      for (let times = 0; times < 20; times++) {
        const before = process.cpuUsage();
        await make();
        used.push(process.cpuUsage(before).user);
      }
      return used.sort((one, other) => one - other)[5] ?? 0;
    };
    let port = 0;
    const ask = async () => {
      const head = request(`${stage.origin}/docs`, { method: 'HEAD', headers: { host: `a.example:${++port}` } });
      const [answer] = (await once(head.end(), 'response')) as [IncomingMessage];
      assert.equal(answer.resume().statusCode, 200);
    };
    const document = createDocument();
    await ask();
    const [asked, built] = [await microsecondsOf(ask), await microsecondsOf(() => pageOf(document, 'all'))];
    assert(asked < built, `${asked} < ${built}`);
  });

  it('has no broken link within its pages', async () => {
    const idsOf = new Map<string, readonly string[]>();
    const texts = new Map<string, string>();
    for (const path of PAGES) {
      const { text } = await stage.ask('GET', path, { apiKey: null });
      const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id);
      assert.equal(new Set(ids).size, ids.length);
      idsOf.set(path, ids);
      texts.set(path, text);
    }
    for (const [path, text] of texts) {
      const [markup = ''] = text.split('<script>');
      for (const [, to = '', id = ''] of markup.matchAll(/href="([^"#]*)#([^"]+)"/g))
        assert(idsOf.get(to || path)?.includes(id), `${path}: ${to}#${id}`);
    }
  });

  it('says of a number without an upper bound that more is possible', async () => {
    const { text } = await stage.ask('GET', '/docs', { apiKey: null });
    assert(text.includes('<td><code>attemptCount</code></td>\n<td><b>required</b>, integer, 0 or more</td>'));
    assert.doesNotMatch(text, /, \d* to *<\/td>/);
  });

  it("offers the merchants' routes alone, with their document", async () => {
    const [all, merchants] = await Promise.all(
      [AUDIENCES.all, AUDIENCES.merchant].map(async ({ json, page }) => {
        const { text } = await stage.ask('GET', page, { apiKey: null });
        assert(text.includes(`<a href="${json}">`));
        assert(text.includes(`<a href="${page}" aria-current="page">`));
        return text;
      }),
    );
    assert(all?.includes(`<a href="${AUDIENCES.merchant.page}">`));
    assert(merchants?.includes(`<a href="${AUDIENCES.all.page}">`));
    assert(merchants?.includes('<article id="createPreauthorization">'));
    assert(merchants?.includes('<article id="paymentNotification">'));
    assert.doesNotMatch(merchants ?? '', /id="createMerchant"|id="operators"|id="service"|OPERATOR_TOKEN|\/operator\//);
  });

  it("separates operators' routes from merchants'", async () => {
    const { text } = await stage.ask('GET', '/docs', { apiKey: null });
    const [merchants = '', operators = ''] = text.split('<div id="operators">');
    assert(merchants.includes('<article id="createPreauthorization">'));
    assert(!merchants.includes('<article id="createMerchant">'));
    assert(operators.includes('<article id="createMerchant">'));
  });

  for (const path of PAGES) {
    it(`is readable at ${path} without JavaScript, and loads only what the policy allows`, async () => {
      const { text, headers } = await stage.ask('GET', path, { apiKey: null });
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
  }

  it('has an anchor for every route and webhook', async () => {
    const { text } = await stage.ask('GET', '/docs', { apiKey: null });
    const { paths, webhooks } = createDocument();
    for (const methods of Object.values(paths)) {
      for (const { operationId } of Object.values(methods)) assert(text.includes(`<article id="${operationId}">`));
    }
    for (const name of Object.keys(webhooks as object)) assert(text.includes(`<article id="${name}">`));
  });

  it("explains every code of the document and of the contract, core's included, under an anchor", async () => {
    const { text } = await stage.ask('GET', '/docs/refusals', { apiKey: null });
    const told = [...text.matchAll(/<article id="(\w+)">/g)].map(([, code]) => code);
    const { examples } = createDocument().components;
    assert.deepEqual(told.toSorted(), Object.keys(examples).toSorted());
    for (const [code, { value }] of Object.entries(examples)) assert.equal(value.type, `/docs/refusals#${code}`);
    const ofContract = Object.keys(ErrorReason).filter((word) => word !== 'UNSPECIFIED' && Number.isNaN(Number(word)));
    assert.deepEqual(
      ofContract.filter((code) => !told.includes(code)),
      [],
    );
  });

  it('leads from the codes of a route to what they mean', async () => {
    const { text } = await stage.ask('GET', '/docs', { apiKey: null });
    const [, capture = ''] = text.split('<article id="capturePreauthorization">');
    assert(capture.includes('<a href="/docs/refusals#HOLD_FROZEN"><code>HOLD_FROZEN</code></a>'));
    assert.doesNotMatch(capture.split('</article>')[0] ?? '', /<li>409: [^<]*[A-Z_]{5}/);
  });
});
