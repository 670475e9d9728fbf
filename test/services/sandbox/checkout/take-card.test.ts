import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { v7 as uuidv7 } from 'uuid';
import { Answer, Finding } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { TEST_CARDS } from '../../../../services/sandbox/checkout/test-card.ts';
import { captureRequest, checkoutRequest, type Fixture, holdRequest, startFixture } from '../fixture.ts';
import { CARD, entryOf, openPage, pay, submit } from './browse.ts';

describe('takeCard()', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => fixture.close());

  async function opened(terms: Parameters<typeof checkoutRequest>[0] = {}) {
    const request = checkoutRequest(terms);
    const { checkoutUrl } = await fixture.client.createCheckout(request);
    return { ...request, url: checkoutUrl };
  }
  const eventsOf = (requestId: string) =>
    fixture.core.received.flatMap(({ event }) =>
      event.case === 'checkoutCompleted' && event.value.requestId === requestId ? [event.value.result] : [],
    );

  it('authorizes, reports to core before it answers, and sends the customer back', async () => {
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
        ...{ $typeName: undefined, brand: 'visa', last4: '4242', expiryMonth: 12, expiryYear: 2034 },
      },
    );
    assert.equal(result.generatedTokenId, '');
    const found = await fixture.client.inquire({ requestId, fence: true });
    assert.equal(found.finding, Finding.DONE);
    assert.deepEqual(found.result, result);
    const capture = await fixture.client.capture(captureRequest({ requestId }, 100n));
    assert.equal(capture.result?.answer, Answer.APPROVED);
  });

  it('shows a closing page when there is nowhere to return to', async () => {
    const { url } = await opened();
    const response = await pay(url);
    assert.equal(response.status, 200);
    assert.match(await response.text(), /<h1>Reserved<\/h1>.*Acme &#38; Söhne &#60;Shop&#62;/s);
  });

  it('sets requestId in a return URL that names one already', async () => {
    const { requestId, url } = await opened({ returnUrl: 'http://127.0.0.1:9/back?requestId=other' });
    const response = await pay(url);
    assert.equal(response.headers.get('location'), `http://127.0.0.1:9/back?requestId=${requestId}`);
  });

  it('makes a decline final and reports it', async () => {
    const { requestId, url } = await opened();
    const response = await pay(url, { number: '4000000000000002' });
    assert.match(await response.text(), /<h1>Not reserved<\/h1>/);
    assert.equal(eventsOf(requestId)[0]?.answer, Answer.DECLINED);
    assert.equal((await openPage(url)).response.status, 410);
    assert.equal(eventsOf(requestId).length, 1);
  });

  it('takes one submit, also of two at the same time', async () => {
    const { requestId, url } = await opened({ returnUrl: 'https://shop.example/' });
    const { formToken } = await openPage(url);
    const responses = await Promise.all([1, 2, 3].map(() => submit(url, { formToken, ...CARD })));
    assert.deepEqual(responses.map(({ status }) => status).sort(), [303, 410, 410]);
    assert.equal(eventsOf(requestId).length, 1);
    const again = await openPage(url);
    assert.equal(again.response.status, 410);
    assert.match(again.text, new RegExp(`href="https://shop.example/\\?requestId=${requestId}"`));
  });

  it('does what each test card says', async () => {
    for (const { number, brand, behaviour } of TEST_CARDS.filter((card) => card.behaviour !== 'slow')) {
      const { requestId, url } = await opened();
      const response = await pay(url, { number, cvc: brand === 'amex' ? '1234' : '123' });
      const entry = entryOf(fixture, requestId);
      if (behaviour === 'timeout_lost') {
        assert.equal(response.status, 504);
        assert.equal(entry.answer, Answer.UNSPECIFIED);
        continue;
      }
      assert.equal(response.status, 200);
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
    assert.equal((await paying).status, 200);
  });

  it('generates a token when the card is to be saved, for that merchant and with that behaviour, kept for ever', async () => {
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

  it('generates no token for a card that was declined', async () => {
    const { requestId, url } = await opened({ saveCard: true });
    await pay(url, { number: '4000000000000002' });
    assert.equal(eventsOf(requestId)[0]?.generatedTokenId, '');
  });

  it("captures a saved card's checkout without a token, or with the generated one", async () => {
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
    const cancel = () => fixture.client.void({ requestId: uuidv7(), authorizationRequestId: requestId });
    assert.equal((await cancel()).result?.answer, Answer.APPROVED);
    assert.equal((await cancel()).result?.answer, Answer.APPROVED);
    const page = await openPage(url);
    assert.equal(page.response.status, 410);
    assert.match(page.text, /cancelled this checkout/);
    const late = await submit(url, { formToken, ...CARD });
    assert.equal(late.status, 410);
    const found = await fixture.client.inquire({ requestId });
    assert.equal(found.result?.errorCode, 'checkout_cancelled');
    assert.equal(eventsOf(requestId).length, 0);
  });

  it('sends the customer back after two seconds when core does not answer, and reports later', async () => {
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

  it('keeps no card number and no capability in ledger or log', async () => {
    const { url } = await opened();
    const capability = url.slice(url.lastIndexOf('/') + 1);
    await pay(url, { number: '4242424242424241' });
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
