import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { v7 as uuidv7 } from 'uuid';
import { Answer, Finding } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { TEST_CARDS } from '../../../../services/sandbox/checkout/test-card.ts';
import { forSuite } from '../../../suite.ts';
import { captureRequest, checkoutRequest, holdRequest, startFixture } from '../fixture.ts';
import { CARD, confirm, entryOf, openPage, pay, shownAfter, submit } from './browse.ts';

describe('takeForm()', () => {
  const fixture = forSuite(startFixture);

  async function opened(terms: Parameters<typeof checkoutRequest>[0] = {}) {
    const request = checkoutRequest(terms);
    const { checkoutUrl } = await fixture.client.createCheckout(request);
    return { ...request, url: checkoutUrl };
  }
  const eventsOf = (requestId: string) =>
    fixture.core.received.flatMap(({ event }) =>
      event.case === 'checkoutCompleted' && event.value.requestId === requestId ? [event.value.result] : [],
    );

  it('authorizes, reports to core before it answers, and redirects the customer', async () => {
    const { requestId, url } = await opened({ returnUrl: 'https://shop.example/thanks?order=7&name=a%20b#top' });
    const response = await pay(url);
    assert.equal(response.status, 303);
    const location = `https://shop.example/thanks?order=7&name=a%20b&requestId=${requestId}#top`;
    assert.equal(response.headers.get('location'), location);
    const [result, ...more] = eventsOf(requestId);
    assert.equal(more.length, 0);
    assert.equal(result?.answer, Answer.APPROVED);
    assert.deepEqual(
      { ...result.card, $typeName: undefined },
      {
        $typeName: undefined,
        brand: 'visa',
        last4: '4242',
        expiryMonth: 12,
        expiryYear: 2034,
        funding: 'credit',
        threeDSecure: '',
        declineCode: '',
      },
    );
    assert.equal(result.generatedTokenId, '');
    const found = await fixture.client.inquire({ requestId, fence: true });
    assert.equal(found.finding, Finding.DONE);
    assert.deepEqual(found.result, result);
    const capture = await fixture.client.capture(captureRequest({ requestId }, 100n));
    assert.equal(capture.result?.answer, Answer.APPROVED);
  });

  it('shows a closing page without a return URL, again on each reload', async () => {
    const { requestId, url } = await opened();
    const response = await pay(url);
    for (const _ of ['redirected', 'reloaded']) {
      const { response: page, text } = await shownAfter(url, response);
      assert.equal(page.status, 200);
      assert.match(text, /<h1>Reserved<\/h1>.*Acme &#38; Söhne &#60;Shop&#62;/s);
      assert.doesNotMatch(text, /<form/);
    }
    assert.equal(eventsOf(requestId).length, 1);
  });

  it('sets requestId in a return URL that already contains one', async () => {
    const { requestId, url } = await opened({ returnUrl: 'http://127.0.0.1:9/back?requestId=other' });
    const response = await pay(url);
    assert.equal(response.headers.get('location'), `http://127.0.0.1:9/back?requestId=${requestId}`);
  });

  it('allows another card after a decline, and reports the approved one to core', async () => {
    const { requestId, url } = await opened();
    const declines = {
      4000000000000002: 'declined',
      4000000000009995: 'insufficient funds',
      4000000000005001: 'not know',
    };
    for (const [number, why] of Object.entries(declines)) {
      const { response, text } = await shownAfter(url, await pay(url, { number, expiry: '12/34', cvc: '789' }));
      assert.equal(response.status, 200);
      assert.match(text, new RegExp(`role="alert".*${number.slice(-4)}`, 's'));
      assert.ok(text.includes(why), why);
      assert.match(text, /name="expiry"[^>]*value="12\/34"/s);
      for (const name of ['number', 'cvc']) assert.match(text, new RegExp(`name="${name}"[^>]*value=""`, 's'));
      assert.equal(entryOf(fixture, requestId).answer, Answer.UNSPECIFIED);
      assert.equal((await fixture.client.inquire({ requestId, fence: true })).finding, Finding.AT_WORK);
    }
    assert.equal(eventsOf(requestId).length, 0);
    await fixture.restart();
    const { checkoutPort } = fixture.sandbox;
    const moved = Object.assign(new URL(url), { port: checkoutPort }).href;
    assert.equal((await shownAfter(moved, await pay(moved))).response.status, 200);
    assert.equal(eventsOf(requestId).length, 1);
    assert.equal(eventsOf(requestId)[0]?.card?.last4, '4242');
  });

  it('expires after a decline as if no card had been tried', async () => {
    const { requestId, url } = await opened({ expiresAt: timestampFromMs(fixture.clock.now() + 60_000) });
    await pay(url, { number: '4000000000000002' });
    fixture.clock.advance(60_000);
    assert.equal((await openPage(url)).response.status, 410);
    const found = await fixture.client.inquire({ requestId, fence: true });
    assert.equal(found.result?.errorCode, 'checkout_expired');
    assert.equal(eventsOf(requestId).length, 0);
  });

  it('approves once, also for three simultaneous forms, and shows each the same', async () => {
    const { requestId, url } = await opened({ returnUrl: 'https://shop.example/' });
    const { formToken } = await openPage(url);
    const responses = await Promise.all([1, 2, 3].map(() => submit(url, { formToken, ...CARD })));
    const locations = responses.map(({ headers }) => headers.get('location') ?? '').sort();
    const own = new URL(url).pathname.slice('/checkout/'.length);
    assert.deepEqual(locations, [own, own, `https://shop.example/?requestId=${requestId}`].sort());
    assert.equal(eventsOf(requestId).length, 1);
    const { reference } = entryOf(fixture, requestId);
    const late = await submit(url, { formToken, ...CARD, number: '5555555555554444' });
    const again = await shownAfter(url, late);
    assert.equal(again.response.status, 200);
    assert.match(again.text, new RegExp(`href="https://shop.example/\\?requestId=${requestId}"`));
    assert.equal(entryOf(fixture, requestId).reference, reference);
    assert.equal(eventsOf(requestId).length, 1);
  });

  it('behaves as each test card requires', async () => {
    const declined = new Set(['declined', 'insufficient_funds', 'invalid', 'timeout_lost']);
    for (const { number, brand, behaviour, challenged } of TEST_CARDS) {
      if (behaviour === 'slow' || challenged) continue;
      const { requestId, url } = await opened();
      const response = await pay(url, { number, cvc: brand === 'amex' ? '1234' : '123' });
      const entry = entryOf(fixture, requestId);
      const { text } = await shownAfter(url, response);
      if (declined.has(behaviour)) {
        assert.match(text, /role="alert".*<form/s, behaviour);
        assert.equal(entry.answer, Answer.UNSPECIFIED);
        continue;
      }
      assert.match(text, behaviour === 'processor_error' ? /<h1>Not reserved/ : /<h1>Reserved/);
      assert.equal(entry.behaviour, behaviour);
      assert.equal(entry.cardBrand, brand);
      assert.equal(entry.cardLast4, number.slice(-4));
      assert.equal(eventsOf(requestId).length, behaviour === 'timeout_applied' ? 0 : 1, behaviour);
    }
  });

  it('answers a slow card after two seconds', async () => {
    const { requestId, url } = await opened();
    let answered = false;
    const paying = pay(url, { number: '4000000000005076' }).then((response) => {
      answered = true;
      return response;
    });
    while (entryOf(fixture, requestId).answer === Answer.UNSPECIFIED) await new Promise(setImmediate);
    assert.equal(answered, false);
    fixture.clock.advance(2_000);
    assert.equal((await paying).status, 303);
  });

  it('generates a token when the card is to be saved, for that merchant and behaviour, for ever', async () => {
    const saved = await opened({ saveCard: true });
    await pay(saved.url, { number: '4000000000000341' });
    const tokenId = eventsOf(saved.requestId)[0]?.generatedTokenId ?? '';
    assert.match(tokenId, /^tok_[\w-]{24}$/);
    await fixture.restart();
    const hold = holdRequest(tokenId);
    const { result } = await fixture.client.authorize(hold);
    assert.equal(result?.answer, Answer.APPROVED);
    assert.equal(result.card?.last4, '0341');
    const capture = await fixture.client.capture(captureRequest(hold));
    assert.equal(capture.result?.errorCode, 'capture_declined');
    const foreign = await fixture.client.authorize({ ...holdRequest(tokenId), merchantId: 'other' });
    assert.equal(foreign.result?.errorCode, 'token_invalid');
  });

  it('generates no token for a checkout that fails', async () => {
    const { requestId, url } = await opened({ saveCard: true });
    await pay(url, { number: '4000000000000119' });
    assert.equal(eventsOf(requestId)[0]?.answer, Answer.NOT_PERFORMED);
    assert.equal(eventsOf(requestId)[0]?.generatedTokenId, '');
  });

  it("captures a checkout's authorization without a token, or with the generated one", async () => {
    const { requestId, url } = await opened({ saveCard: true });
    await pay(url);
    const generated = entryOf(fixture, requestId).generatedTokenId;
    for (const tokenId of ['', generated]) {
      const { result } = await fixture.client.capture(captureRequest({ requestId, tokenId }, 1n));
      assert.equal(result?.answer, Answer.APPROVED);
    }
    const { result } = await fixture.client.capture(captureRequest({ requestId, tokenId: 'tok_sandbox_ok' }, 1n));
    assert.equal(result?.errorCode, 'authorization_mismatch');
  });

  it('is cancelled by a void, and says so', async () => {
    const { requestId, url } = await opened({ returnUrl: 'https://shop.example/' });
    const { formToken } = await openPage(url);
    const voided = () => fixture.client.void({ requestId: uuidv7(), authorizationRequestId: requestId });
    assert.equal((await voided()).result?.answer, Answer.APPROVED);
    assert.equal((await voided()).result?.answer, Answer.APPROVED);
    const page = await openPage(url);
    assert.equal(page.response.status, 410);
    assert.match(page.text, /checkout was cancelled/);
    for (const late of [
      await submit(url, { formToken, ...CARD }),
      await submit(url, { formToken, action: 'cancel' }),
    ]) {
      assert.equal((await shownAfter(url, late)).response.status, 410);
    }
    const found = await fixture.client.inquire({ requestId });
    assert.equal(found.result?.errorCode, 'checkout_cancelled');
    assert.equal(eventsOf(requestId).length, 0);
  });

  it('is cancelled by the customer: reported, closed, and back to the merchant', async () => {
    const { requestId, url } = await opened({ returnUrl: 'https://shop.example/' });
    const { formToken } = await openPage(url);
    const cancelled = await submit(url, { formToken, action: 'cancel' });
    assert.equal(cancelled.status, 303);
    assert.equal(cancelled.headers.get('location'), `https://shop.example/?requestId=${requestId}`);
    const [result, ...more] = eventsOf(requestId);
    assert.equal(more.length, 0);
    assert.deepEqual([result?.answer, result?.errorCode], [Answer.NOT_PERFORMED, 'checkout_cancelled']);
    assert.equal((await openPage(url)).response.status, 410);
    assert.equal((await shownAfter(url, await submit(url, { formToken, ...CARD }))).response.status, 410);
    const voided = await fixture.client.void({ requestId: uuidv7(), authorizationRequestId: requestId });
    assert.equal(voided.result?.answer, Answer.APPROVED);
    assert.equal(eventsOf(requestId).length, 1);
  });

  it('shows that it was cancelled without a return URL, and cancels only from its own page', async () => {
    const { requestId, url } = await opened();
    assert.equal((await submit(url, { action: 'cancel' })).status, 403);
    assert.equal(entryOf(fixture, requestId).answer, Answer.UNSPECIFIED);
    const { formToken } = await openPage(url);
    const { text } = await shownAfter(url, await submit(url, { formToken, action: 'cancel' }));
    assert.match(text, /<h1>Cancelled<\/h1>/);
  });

  describe('with a card that requires a challenge', () => {
    const CHALLENGED = { number: '4000000000003220' };
    const challengedPage = async (terms: Parameters<typeof checkoutRequest>[0] = {}) => {
      const checkout = await opened(terms);
      const shown = await shownAfter(checkout.url, await pay(checkout.url, CHALLENGED));
      assert.match(shown.text, /<h1>Confirm with your bank<\/h1>.*€100\.00.*3220/s);
      assert.equal(entryOf(fixture, checkout.requestId).answer, Answer.UNSPECIFIED);
      return checkout;
    };

    it('authorizes once the challenge succeeds', async () => {
      const { requestId, url } = await challengedPage({ saveCard: true });
      assert.equal(eventsOf(requestId).length, 0);
      const answers = await Promise.all([confirm(url, 'pass'), confirm(url, 'pass')]);
      for (const answer of answers) assert.match((await shownAfter(url, answer)).text, /<h1>Reserved<\/h1>/);
      const [result, ...more] = eventsOf(requestId);
      assert.equal(more.length, 0);
      const { last4, threeDSecure } = result?.card ?? {};
      assert.deepEqual([result?.answer, last4, threeDSecure], [Answer.APPROVED, '3220', 'authenticated']);
      assert.match(result?.generatedTokenId ?? '', /^tok_/);
    });

    it('declines the card when the challenge fails, and accepts another', async () => {
      const { requestId, url } = await challengedPage();
      const { text } = await shownAfter(url, await confirm(url, 'fail'));
      assert.match(text, /role="alert".*3220 was not confirmed.*<form/s);
      assert.equal(eventsOf(requestId).length, 0);
      assert.match((await shownAfter(url, await pay(url))).text, /<h1>Reserved<\/h1>/);
      assert.equal(eventsOf(requestId)[0]?.card?.last4, '4242');
    });

    it('expires when the challenge is abandoned, and accepts no answer then', async () => {
      const { requestId, url } = await challengedPage({ expiresAt: timestampFromMs(fixture.clock.now() + 60_000) });
      const { text, formToken } = await openPage(url);
      fixture.clock.advance(60_000);
      const challenge = /name="challenge" value="([^"]+)"/.exec(text)?.[1] ?? '';
      const late = await submit(url, { formToken, challenge, action: 'pass' });
      assert.equal((await shownAfter(url, late)).response.status, 410);
      const found = await fixture.client.inquire({ requestId, fence: true });
      assert.equal(found.result?.errorCode, 'checkout_expired');
      assert.equal(eventsOf(requestId).length, 0);
    });

    it('accepts no other card, no answer to an earlier challenge and none from elsewhere meanwhile', async () => {
      const { requestId, url } = await challengedPage();
      const { formToken } = await openPage(url);
      const stale = { formToken, challenge: '1', action: 'pass' };
      for (const form of [
        { formToken, ...CARD },
        { ...stale, challenge: '2' },
        { ...stale, challenge: '' },
      ]) {
        assert.match((await shownAfter(url, await submit(url, form))).text, /<h1>Confirm with your bank/);
      }
      assert.equal((await submit(url, { ...stale, formToken: 'x' })).status, 403);
      await confirm(url, 'fail');
      await pay(url, CHALLENGED);
      assert.match((await shownAfter(url, await submit(url, stale))).text, /<h1>Confirm with your bank/);
      assert.equal(entryOf(fixture, requestId).answer, Answer.UNSPECIFIED);
    });

    it('can be cancelled', async () => {
      const { requestId, url } = await challengedPage({ returnUrl: 'https://shop.example/' });
      const { formToken } = await openPage(url);
      await submit(url, { formToken, action: 'cancel' });
      assert.equal(eventsOf(requestId)[0]?.errorCode, 'checkout_cancelled');
    });
  });

  it('redirects the customer after two seconds when core does not answer, and reports later', async () => {
    const { requestId, url } = await opened({ returnUrl: 'https://shop.example/' });
    fixture.core.answer = 'hang';
    const tried = fixture.core.next();
    const paying = pay(url);
    await tried;
    fixture.clock.advance(2_000);
    assert.equal((await paying).status, 303);
    fixture.core.answer = 'accept';
    fixture.core.letGo();
    fixture.clock.advance(10_000);
    await fixture.sandbox.reportDue();
    assert.equal(eventsOf(requestId).length, 2);
    assert.equal(eventsOf(requestId)[1]?.answer, Answer.APPROVED);
  });

  it('stores no card number and no capability in ledger or log', async () => {
    const { url } = await opened();
    const capability = url.slice(url.lastIndexOf('/') + 1);
    await pay(url, { number: '4242424242424241' });
    await pay(url, { number: '4000000000000002', cvc: '987' });
    await pay(url, { number: '4000000000003220', cvc: '987' });
    await confirm(url, 'fail');
    await pay(url, { number: '5555 5555 5555 4444', cvc: '987' });
    await fixture.restart();
    const kept = readFileSync(fixture.ledgerFile).toString('latin1') + fixture.logged.join('');
    assert.ok(kept.includes('mastercard'));
    for (const secret of ['4242424242424241', '5555555555554444', '5555 5555', capability]) {
      assert.ok(!kept.includes(secret));
    }
    for (const { number } of TEST_CARDS) assert.ok(!kept.includes(number));
  });
});
