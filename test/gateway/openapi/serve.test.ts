import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createDocument } from '../../../gateway/openapi/document.ts';
import { Stage } from '../stage.ts';

describe('the document, served', () => {
  const stage = new Stage();
  before(() => stage.open());
  after(() => stage.close());

  for (const [path, type] of [
    ['/openapi.json', 'application/json; charset=utf-8'],
    ['/docs', 'text/html; charset=utf-8'],
  ] as const) {
    it(`answers ${path} to anybody, to be kept`, async () => {
      const answer = await stage.ask('GET', path, { apiKey: null });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get('content-type'), type);
      assert.match(answer.headers.get('cache-control') ?? '', /^public, max-age=\d+$/);
      // Without a Cache-Control of its own, fetch asks not to be answered from what is kept.
      const headers = { 'if-none-match': answer.headers.get('etag') ?? '', 'cache-control': 'max-age=0' };
      const again = await stage.ask('GET', path, { headers });
      assert.deepEqual([again.status, again.text], [304, '']);
      assert.equal((await stage.ask('HEAD', path, { apiKey: null })).status, 200);
      assert.equal((await stage.ask('POST', path, { apiKey: null })).status, 405);
    });
  }

  it('is the document that is checked', async () => {
    const { body } = await stage.ask('GET', '/openapi.json', { apiKey: null });
    assert.deepEqual(body, JSON.parse(JSON.stringify(createDocument())));
  });

  it('is readable without a script, and its style sheet is the one that the policy allows', async () => {
    const { text, headers } = await stage.ask('GET', '/docs', { apiKey: null });
    const policy = headers.get('content-security-policy') ?? '';
    assert.match(
      policy,
      /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(text) ?? [];
    assert(policy.includes(`'sha256-${createHash('sha256').update(style).digest('base64')}'`));
    assert.doesNotMatch(text, /<script|<link|<img|\bstyle=|\bsrc=|\bon\w+=|\[object Object\]|undefined/);
    assert.deepEqual(text.match(/(?:href|action)="(?!#|\/)[^"]*"/g), null);
  });

  it('has a place for every route, webhook and code', async () => {
    const { text } = await stage.ask('GET', '/docs', { apiKey: null });
    const { paths, webhooks, components } = createDocument();
    for (const methods of Object.values(paths)) {
      for (const { operationId } of Object.values(methods)) assert(text.includes(`<article id="${operationId}">`));
    }
    for (const name of Object.keys(webhooks as object)) assert(text.includes(`<article id="${name}">`));
    for (const code of Object.keys(components.examples as object)) assert(text.includes(`<code>${code}</code>`));
  });
});
