import assert from 'node:assert/strict';
import { timestampDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { status } from '@grpc/grpc-js';
import { Answer, Finding } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../../suite.ts';
import { completeSession } from '../fake/sessions.ts';
import {
  booksAgree,
  captureRequest,
  checkoutRequest,
  holdRequest,
  inquiryOf,
  startFixture,
  voidRequest,
} from '../fixture.ts';

describe('createCheckout()', () => {
  const fixture = forSuite(startFixture);

  function sessionOf(requestId: string, account = '') {
    const sessions = [...fixture.stripe.account(account).sessions.values()];
    const found = sessions.filter((session) => session.client_reference_id === requestId);
    assert.equal(found.length, 1, 'one Checkout Session');
    return found[0] as (typeof found)[number];
  }
  function toldOf(requestId: string) {
    return fixture.core.received.flatMap(({ event }) =>
      event.case === 'checkoutCompleted' && event.value.requestId === requestId ? [event.value.result] : [],
    );
  }

  it('opens a page on Stripe, and returns the same page again', async () => {
    const checkout = checkoutRequest({ returnUrl: 'https://shop.example/done?basket=1' });
    const page = await fixture.client.createCheckout(checkout);
    const session = sessionOf(checkout.requestId);
    assert.equal(page.checkoutUrl, session.url);
    assert.equal(session.success_url, `https://shop.example/done?basket=1&requestId=${checkout.requestId}`);
    assert.equal(Math.abs((page.expiresAt && timestampDate(page.expiresAt).getTime() / 1000) ?? 0), session.expires_at);
    assert.deepEqual(await fixture.client.createCheckout(checkout), page);
    assert.deepEqual(await fixture.client.createCheckout({ ...checkout, merchantName: 'Acme, renamed' }), page);
    assert.equal(sessionOf(checkout.requestId).id, session.id);
  });

  it('redirects a customer without a return URL to a closing page', async () => {
    const checkout = checkoutRequest();
    await fixture.client.createCheckout(checkout);
    const response = await fetch(sessionOf(checkout.requestId).success_url ?? '');
    assert.equal(response.status, 200);
    assert.match(await response.text(), /You can close this page/);
  });

  it("keeps the page open within Stripe's limits", async () => {
    for (const [minutes, least, most] of [
      [1, 30, 32],
      [600, 599, 601],
      [60 * 48, 60 * 23, 60 * 24],
    ] as const) {
      const checkout = { ...checkoutRequest(), expiresAt: timestampFromMs(Date.now() + minutes * 60_000) };
      const { expiresAt } = await fixture.client.createCheckout(checkout);
      const open = expiresAt && (timestampDate(expiresAt).getTime() - Date.now()) / 60_000;
      assert(open && open > least && open < most, String(open));
    }
  });

  it('reports to core when the customer has entered a card, and the hold can be captured', async () => {
    const checkout = checkoutRequest();
    await fixture.client.createCheckout(checkout);
    const open = await fixture.client.inquire({ requestId: checkout.requestId, fence: true });
    assert.equal(open.finding, Finding.AT_WORK);
    completeSession(fixture.stripe.account(), sessionOf(checkout.requestId).id, 'pm_card_visa');
    await fixture.deliverAll();
    const [result, ...more] = toldOf(checkout.requestId);
    assert.deepEqual(more, []);
    assert.equal(result?.answer, Answer.APPROVED);
    assert.equal(result.card?.last4, '4242');
    assert.equal(result.generatedTokenId, '');
    assert.equal(result.capabilities?.severalCaptures, true);
    const { result: charge } = await fixture.client.capture(captureRequest(checkout, 4_000n, true));
    assert.equal(charge?.answer, Answer.APPROVED);
    await booksAgree(fixture, checkout.requestId);
  });

  it('generates a token with which only its merchant can place holds', async () => {
    const checkout = checkoutRequest({ saveCard: true });
    await fixture.client.createCheckout(checkout);
    completeSession(fixture.stripe.account(), sessionOf(checkout.requestId).id, 'pm_card_visa');
    const { result } = await fixture.client.inquire({ requestId: checkout.requestId });
    const token = result?.generatedTokenId ?? '';
    assert.match(token, /^pm_/);
    assert.equal((await fixture.client.authorize(holdRequest(token))).result?.answer, Answer.APPROVED);
    const other = await fixture.client.authorize({ ...holdRequest(token), merchantId: 'other' });
    assert.equal(other.result?.errorCode, 'token_invalid');
  });

  it('stays open after a declined card', async () => {
    const checkout = checkoutRequest();
    await fixture.client.createCheckout(checkout);
    const { id } = sessionOf(checkout.requestId);
    completeSession(fixture.stripe.account(), id, 'pm_card_chargeDeclined');
    await fixture.deliverAll();
    assert.deepEqual(toldOf(checkout.requestId), []);
    completeSession(fixture.stripe.account(), id, 'pm_card_visa');
    await fixture.deliverAll();
    assert.equal(toldOf(checkout.requestId)[0]?.answer, Answer.APPROVED);
  });

  it('ends as checkout_expired when no customer came', async () => {
    const checkout = checkoutRequest();
    await fixture.client.createCheckout(checkout);
    fixture.advance(2 * 60 * 60 * 1000);
    const { finding, result } = await fixture.client.inquire({ requestId: checkout.requestId });
    assert.deepEqual([finding, result?.errorCode], [Finding.DONE, 'checkout_expired']);
    await assert.rejects(fixture.client.createCheckout(checkout), { code: status.FAILED_PRECONDITION });
  });

  it('is voided after the card was accepted but before core was notified', async () => {
    const checkout = checkoutRequest();
    await fixture.client.createCheckout(checkout);
    completeSession(fixture.stripe.account(), sessionOf(checkout.requestId).id, 'pm_card_visa');
    const { result } = await fixture.client.void(voidRequest(checkout));
    assert.deepEqual([result?.answer, result?.amountReleased], [Answer.APPROVED, 10_000n]);
    await booksAgree(fixture, checkout.requestId);
  });

  it('opens one page when Stripe’s answer is lost, or its account has no features', async () => {
    for (const fault of ['cut before', 'cut after', 'rate limit'] as const) {
      fixture.stripe.fail('POST /v1/checkout/sessions', fault, 1);
      const checkout = checkoutRequest();
      assert.match((await fixture.client.createCheckout(checkout)).checkoutUrl, /\/c\/pay\//);
      sessionOf(checkout.requestId);
    }
    const checkout = checkoutRequest({ account: 'acct_plain' });
    await fixture.client.createCheckout(checkout);
    sessionOf(checkout.requestId, 'acct_plain');
  });

  it('rejects invalid fields', async () => {
    const fenced = checkoutRequest();
    await fixture.client.inquire(inquiryOf(fenced));
    const used = checkoutRequest();
    await fixture.client.createCheckout(used);
    const cases = [
      [checkoutRequest({ returnUrl: 'http://shop.example/' }), status.INVALID_ARGUMENT],
      [checkoutRequest({ currency: 'UGX' }), status.INVALID_ARGUMENT],
      [checkoutRequest({ amount: 1n }), status.FAILED_PRECONDITION],
      [fenced, status.FAILED_PRECONDITION],
      [{ ...used, amount: 9_999n }, status.ALREADY_EXISTS],
    ] as const;
    for (const [request, code] of cases) await assert.rejects(fixture.client.createCheckout(request), { code });
  });
});
