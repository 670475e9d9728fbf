import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import { Answer } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../../suite.ts';
import {
  booksAgree,
  captureRequest,
  checkoutRequest,
  holdRequest,
  intentOf,
  startFixture,
  voidRequest,
} from '../fixture.ts';

const CANCEL = 'POST /v1/payment_intents/…/cancel';

describe('voidAuthorization()', () => {
  const fixture = forSuite(startFixture);

  it('cancels what was not captured, and returns the released amount', async () => {
    const hold = await fixture.placed();
    const { result } = await fixture.client.void(voidRequest(hold));
    assert.deepEqual([result?.answer, result?.amountReleased], [Answer.APPROVED, 10_000n]);
    assert.equal(intentOf(fixture, hold.requestId).status, 'canceled');
    await booksAgree(fixture, hold.requestId);
  });

  it('releases the rest after a partial capture, and the captures remain', async () => {
    const hold = await fixture.placed();
    await fixture.client.capture(captureRequest(hold, 3_000n));
    const { result } = await fixture.client.void(voidRequest(hold));
    assert.deepEqual([result?.answer, result?.amountReleased], [Answer.APPROVED, 7_000n]);
    const books = await booksAgree(fixture, hold.requestId);
    assert.deepEqual([books.captured, books.voided], [3_000n, 7_000n]);
  });

  it('is APPROVED with nothing released when nothing is left', async () => {
    const hold = await fixture.placed();
    await fixture.client.capture(captureRequest(hold, 10_000n));
    const { result } = await fixture.client.void(voidRequest(hold));
    assert.deepEqual([result?.answer, result?.amountReleased], [Answer.APPROVED, 0n]);
    const twice = await fixture.placed();
    await fixture.client.void(voidRequest(twice));
    assert.equal((await fixture.client.void(voidRequest(twice))).result?.amountReleased, 0n);
  });

  it('is NOT_PERFORMED where nothing was reserved', async () => {
    const declined = holdRequest('pm_card_chargeDeclined');
    await fixture.client.authorize(declined);
    assert.equal((await fixture.client.void(voidRequest(declined))).result?.errorCode, 'authorization_not_approved');
    assert.equal((await fixture.client.void(voidRequest(holdRequest()))).result?.errorCode, 'authorization_not_found');
    const foreign = { ...voidRequest(await fixture.placed()), merchantId: 'other' };
    assert.equal((await fixture.client.void(foreign)).result?.errorCode, 'authorization_mismatch');
  });

  it('may omit the merchant and the account', async () => {
    const hold = await fixture.placed();
    const request = { ...voidRequest(hold), merchantId: '', account: '' };
    assert.equal((await fixture.client.void(request)).result?.amountReleased, 10_000n);
    assert.equal((await fixture.client.void(request)).result?.amountReleased, 10_000n);
  });

  for (const fault of ['rate limit', 'cut before', 'cut after', 'hang after', 'error after'] as const) {
    it(`succeeds once when Stripe fails for a moment: ${fault}`, async () => {
      const hold = await fixture.placed();
      fixture.stripe.fail(CANCEL, fault, 1);
      const { result } = await fixture.client.void(voidRequest(hold));
      assert.deepEqual([result?.answer, result?.amountReleased], [Answer.APPROVED, 10_000n]);
      await booksAgree(fixture, hold.requestId);
    });
  }

  it('is NOT_PERFORMED with authorization_expired when it has expired at Stripe', async () => {
    const hold = await fixture.placed();
    fixture.advance(8 * 24 * 60 * 60 * 1000);
    const { result } = await fixture.client.void(voidRequest(hold));
    assert.deepEqual([result?.answer, result?.errorCode], [Answer.NOT_PERFORMED, 'authorization_expired']);
  });

  it('fences an unknown authorization', async () => {
    const hold = holdRequest();
    fixture.stripe.fail('POST /v1/payment_intents/…/confirm', 'cut before', 99);
    await assert.rejects(fixture.client.authorize(hold), { code: status.UNAVAILABLE });
    fixture.stripe.faults.length = 0;
    const { result } = await fixture.client.void(voidRequest(hold));
    assert.deepEqual([result?.answer, result?.errorCode], [Answer.NOT_PERFORMED, 'authorization_not_approved']);
    assert.equal(intentOf(fixture, hold.requestId).status, 'canceled');
    assert.equal((await fixture.client.authorize(hold)).result?.answer, Answer.NOT_PERFORMED);
  });

  it('voids an authorization whose answer was lost', async () => {
    const hold = holdRequest();
    fixture.stripe.fail('POST /v1/payment_intents/…/confirm', 'cut after', 99);
    fixture.stripe.fail('GET /v1/payment_intents/…', 'cut before', 99);
    await assert.rejects(fixture.client.authorize(hold), { code: status.UNAVAILABLE });
    fixture.stripe.faults.length = 0;
    const { result } = await fixture.client.void(voidRequest(hold));
    assert.deepEqual([result?.answer, result?.amountReleased], [Answer.APPROVED, 10_000n]);
    await booksAgree(fixture, hold.requestId);
  });

  it('closes an open checkout, which then accepts no card', async () => {
    const checkout = checkoutRequest();
    await fixture.client.createCheckout(checkout);
    const { result } = await fixture.client.void(voidRequest(checkout));
    assert.deepEqual([result?.answer, result?.amountReleased], [Answer.APPROVED, 0n]);
    const [session] = [...fixture.stripe.account().sessions.values()].slice(-1);
    assert.equal(session?.status, 'expired');
    const inquiry = await fixture.client.inquire({ requestId: checkout.requestId });
    assert.equal(inquiry.result?.errorCode, 'checkout_cancelled');
  });
});
