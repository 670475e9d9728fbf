import assert from 'node:assert/strict';
import { request } from 'node:http';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Answer } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../../suite.ts';
import { checkoutRequest, startFixture } from '../fixture.ts';
import { CARD, entryOf, openPage, pay, shownAfter, submit } from './browse.ts';

describe('checkoutApp()', () => {
  const fixture = forSuite(startFixture);

  async function opened(terms: Parameters<typeof checkoutRequest>[0] = {}) {
    const wanted = checkoutRequest(terms);
    const { checkoutUrl } = await fixture.client.createCheckout(wanted);
    return { ...wanted, url: checkoutUrl };
  }

  it('shows merchant and amount, escaped, in a form that works with a keyboard and a screen reader', async () => {
    const { url } = await opened();
    assert.match(url, /^http:\/\/127\.0\.0\.1:[0-9]+\/checkout\/[\w-]{43}$/);
    const { response, text } = await openPage(url);
    assert.equal(response.status, 200);
    assert.match(text, /€100\.00/);
    assert.match(text, /Acme &#38; Söhne &#60;Shop&#62;/);
    assert.doesNotMatch(text, /<Shop>|style=/);
    assert.deepEqual(text.match(/<script.*?<\/script>/gs), ['<script src="../checkout.js" type="module"></script>']);
    for (const name of ['number', 'expiry', 'cvc']) {
      assert.match(text, new RegExp(`<label for="${name}">`));
      assert.match(text, new RegExp(`<input id="${name}" name="${name}" inputmode="numeric"`));
    }
    for (const autocomplete of ['cc-number', 'cc-exp', 'cc-csc']) assert.ok(text.includes(`"${autocomplete}"`));
  });

  it('forbids storing, framing, sniffing and referrers, and any script but its own', async () => {
    const { url } = await opened({ returnUrl: 'https://shop.example/' });
    const pages = [await fetch(url), await fetch(new URL('/checkout/unknown', url)), await pay(url, { cvc: '' })];
    for (const { headers } of pages) {
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.equal(headers.get('referrer-policy'), 'no-referrer');
      assert.equal(headers.get('x-frame-options'), 'DENY');
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      const policy = headers.get('content-security-policy') ?? '';
      assert.match(
        policy,
        /^default-src 'none'; style-src 'self'; script-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action/,
      );
    }
  });

  it('shows each error beside its field, keeps the input, and stays open', async () => {
    const { requestId, url } = await opened();
    const response = await pay(url, { number: '4242424242424241', expiry: '05/26', cvc: '12' });
    assert.equal(response.status, 422);
    const text = await response.text();
    assert.match(text, /aria-describedby="number-error"\s+aria-invalid="true"\s+autofocus/);
    assert.match(text, /aria-describedby="expiry-hint expiry-error"/);
    assert.match(text, /id="expiry-error">This card has expired/);
    assert.match(text, /id="cvc-error">/);
    assert.equal(text.match(/autofocus/g)?.length, 1);
    for (const typed of ['4242 4242 4242 4241', '05/26', '12']) assert.ok(text.includes(`value="${typed}"`), typed);
    assert.equal(entryOf(fixture, requestId).answer, Answer.UNSPECIFIED);
    assert.doesNotMatch((await openPage(url)).text, /value="(4242|05|12)/);
    assert.equal((await pay(url)).status, 303);
  });

  it('escapes the input', async () => {
    const { url } = await opened();
    const text = await (await pay(url, { number: '"><b>', expiry: '"><i>' })).text();
    assert.doesNotMatch(text, /"><[bi]>/);
    assert.match(text, /value="&#34;&#62;&#60;b&#62;"/);
  });

  it("shows the order's reference, escaped, when there is one", async () => {
    const { url } = await opened({ merchantReference: 'order <7>' });
    assert.match((await openPage(url)).text, /<dt>Order<\/dt><dd>order &#60;7&#62;<\/dd>/);
    assert.doesNotMatch((await openPage((await opened()).url)).text, /<dt>/);
  });

  it('accepts the form only from its own page', async () => {
    const { requestId, url } = await opened();
    const other = await opened();
    const { formToken } = await openPage(url);
    const foreign = await openPage(other.url);
    for (const fields of [{ ...CARD }, { ...CARD, formToken: foreign.formToken }]) {
      assert.equal((await submit(url, fields)).status, 403);
    }
    assert.equal(entryOf(fixture, requestId).answer, Answer.UNSPECIFIED);
    assert.equal((await submit(url, { ...CARD, formToken })).status, 303);
  });

  it('rejects other bodies and methods', async () => {
    const { url } = await opened();
    const json = await fetch(url, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } });
    assert.equal(json.status, 415);
    assert.equal((await submit(url, { ...CARD, formToken: 'x'.repeat(5_000) })).status, 413);
    assert.equal((await fetch(url, { method: 'PUT' })).status, 405);
  });

  it('returns 404 for an unknown capability, and for anything else', async () => {
    const { url } = await opened();
    const last = url.at(-1) === 'A' ? 'B' : 'A';
    for (const unknown of [`${url.slice(0, -1)}${last}`, `${url}/more`, new URL('/', url).href]) {
      const { response, text } = await openPage(unknown);
      assert.equal(response.status, 404);
      assert.match(text, /<h1>/);
    }
    assert.equal((await submit(`${url.slice(0, -1)}${last}`, CARD)).status, 404);
  });

  it('expires in time, and says so', async () => {
    const { requestId, url } = await opened({ expiresAt: timestampFromMs(fixture.clock.now() + 60_000) });
    const { formToken } = await openPage(url);
    fixture.clock.advance(60_000);
    const { response, text } = await openPage(url);
    assert.equal(response.status, 410);
    assert.match(text, /time to enter a card is over/);
    const late = await shownAfter(url, await submit(url, { ...CARD, formToken }));
    assert.equal(late.response.status, 410);
    assert.equal(entryOf(fixture, requestId).answer, Answer.UNSPECIFIED);
  });

  it('serves its style sheet, its script and its health', async () => {
    const { url } = await opened();
    const style = await fetch(new URL('../checkout.css', url));
    assert.match(style.headers.get('content-type') ?? '', /^text\/css/);
    const script = await fetch(new URL('../checkout.js', url));
    assert.match(script.headers.get('content-type') ?? '', /javascript/);
    assert.equal((await fetch(new URL('/healthz', url))).status, 200);
  });

  it('disconnects a client that never finishes its form', async () => {
    const { url } = await opened();
    const { formToken } = await openPage(url);
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '1000' };
    await new Promise<void>((resolve) => {
      const call = request(url, { method: 'POST', headers });
      call.on('error', () => resolve());
      call.write(`formToken=${formToken}`, () => call.destroy());
    });
    assert.equal((await pay(url)).status, 303);
  });
});
