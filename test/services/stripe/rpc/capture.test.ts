import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import { Answer } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../../suite.ts';
import { captureIntent } from '../fake/payment-intents.ts';
import { booksAgree, captureRequest, holdRequest, intentOf, startFixture } from '../fixture.ts';

const CAPTURE = 'POST /v1/payment_intents/…/capture';

describe('capture()', () => {
  const fixture = forSuite(startFixture);

  it('charges all of it', async () => {
    const hold = await fixture.placed();
    const request = captureRequest(hold);
    const { result } = await fixture.client.capture(request);
    assert.deepEqual([result?.answer, result?.amountReleased], [Answer.APPROVED, 0n]);
    assert.match(result?.reference ?? '', /^ch_/);
    assert.match(result?.bankReference ?? '', /^ntx_/);
    assert.equal(intentOf(fixture, hold.requestId).status, 'succeeded');
    assert.equal(fixture.stripe.requests.filter(({ key }) => key === request.requestId).length, 1);
    await booksAgree(fixture, hold.requestId);
  });

  it('charges several parts, says explicitly which is the last, and releases the rest with it', async () => {
    const hold = await fixture.placed();
    const answers = [];
    for (const [amount, final] of [
      [3_000n, false],
      [2_000n, false],
      [1_000n, true],
    ] as const) {
      answers.push((await fixture.client.capture(captureRequest(hold, amount, final))).result);
    }
    assert.deepEqual(
      answers.map((result) => result?.amountReleased),
      [0n, 0n, 4_000n],
    );
    const sent = fixture.stripe.requests.filter(({ request }) => request === CAPTURE).slice(-3);
    assert.deepEqual(
      sent.map(({ form }) => form.final_capture),
      ['false', 'false', 'true'],
    );
    const books = await booksAgree(fixture, hold.requestId);
    assert.deepEqual([books.captured, books.voided], [6_000n, 4_000n]);
    const late = await fixture.client.capture(captureRequest(hold, 1_000n));
    assert.deepEqual(
      [late.result?.answer, late.result?.errorCode],
      [Answer.NOT_PERFORMED, 'amount_exceeds_authorization'],
    );
  });

  it('releases the rest with the only possible capture, whatever its final flag', async () => {
    const hold = await fixture.placed('pm_card_credit_disableEnterpriseCardFeatures');
    const { result } = await fixture.client.capture(captureRequest(hold, 4_000n, false));
    assert.deepEqual([result?.answer, result?.amountReleased], [Answer.APPROVED, 6_000n]);
    await booksAgree(fixture, hold.requestId);
    const second = await fixture.client.capture(captureRequest(hold, 1_000n));
    assert.deepEqual([second.result?.answer, second.result?.errorCode], [Answer.NOT_PERFORMED, 'not_supported']);
  });

  it('closes with the part that leaves nothing', async () => {
    const hold = await fixture.placed();
    await fixture.client.capture(captureRequest(hold, 6_000n));
    await fixture.client.capture(captureRequest(hold, 4_000n));
    assert.equal(intentOf(fixture, hold.requestId).status, 'succeeded');
    await booksAgree(fixture, hold.requestId);
  });

  it('rejects what does not fit the authorization, without a request to Stripe', async () => {
    const hold = await fixture.placed();
    const before = fixture.stripe.requests.length;
    const cases = [
      [{ amount: 10_001n }, 'amount_exceeds_authorization'],
      [{ merchantId: 'other' }, 'authorization_mismatch'],
      [{ account: 'acct_shop' }, 'authorization_mismatch'],
      [{ currency: 'USD' }, 'authorization_mismatch'],
      [{ terminalId: 'till-2' }, 'authorization_mismatch'],
      [{ authorizationRequestId: holdRequest().requestId }, 'authorization_not_found'],
    ] as const;
    for (const [other, code] of cases) {
      const { result } = await fixture.client.capture({ ...captureRequest(hold), ...other });
      assert.deepEqual([result?.answer, result?.errorCode], [Answer.NOT_PERFORMED, code]);
    }
    assert.equal(fixture.stripe.requests.length, before);
    await booksAgree(fixture, hold.requestId);
  });

  it('charges on the account of the authorization when the call names none', async () => {
    const hold = await fixture.placed('pm_card_visa', 'acct_shop');
    const { result } = await fixture.client.capture({ ...captureRequest(hold, 4_000n), account: '' });
    assert.equal(result?.answer, Answer.APPROVED);
    await booksAgree(fixture, hold.requestId, 'acct_shop');
  });

  it('charges nothing of an authorization that was declined', async () => {
    const hold = holdRequest('pm_card_chargeDeclined');
    await fixture.client.authorize(hold);
    const { result } = await fixture.client.capture(captureRequest(hold));
    assert.equal(result?.errorCode, 'authorization_not_found');
  });

  it('returns the same answer again and charges once, for simultaneous calls too', async () => {
    const hold = await fixture.placed();
    const request = captureRequest(hold, 4_000n);
    const answers = await Promise.all(Array.from({ length: 6 }, () => fixture.client.capture(request)));
    assert.equal(new Set(answers.map(({ result }) => JSON.stringify(result?.reference))).size, 1);
    assert.equal((await booksAgree(fixture, hold.requestId)).captured, 4_000n);
    const other = await fixture.client.capture({ ...request, amount: 3_000n });
    assert.equal(other.result?.errorCode, 'identifier_reused');
  });

  it('charges simultaneous parts one after the other, and never too much', async () => {
    const hold = await fixture.placed();
    const requests = Array.from({ length: 6 }, () => captureRequest(hold, 3_000n));
    const answers = await Promise.all(requests.map((request) => fixture.client.capture(request)));
    assert.equal(answers.filter(({ result }) => result?.answer === Answer.APPROVED).length, 3);
    assert.equal((await booksAgree(fixture, hold.requestId)).captured, 9_000n);
  });

  for (const fault of ['rate limit', 'lock timeout', 'cut before', 'cut after', 'hang after', 'error after'] as const) {
    it(`succeeds once when Stripe fails for a moment: ${fault}`, async () => {
      const hold = await fixture.placed();
      fixture.stripe.fail(CAPTURE, fault, 1);
      const { result } = await fixture.client.capture(captureRequest(hold, 4_000n));
      assert.equal(result?.answer, Answer.APPROVED);
      assert.equal((await booksAgree(fixture, hold.requestId)).captured, 4_000n);
    });
  }

  it('is NOT_PERFORMED after a stored error of Stripe’s without an effect', async () => {
    const hold = await fixture.placed();
    fixture.stripe.fail(CAPTURE, 'error before', 1);
    const { result } = await fixture.client.capture(captureRequest(hold, 4_000n));
    assert.deepEqual([result?.answer, result?.errorCode], [Answer.NOT_PERFORMED, 'processor_error']);
    assert.equal((await booksAgree(fixture, hold.requestId)).captured, 0n);
    const again = await fixture.client.capture(captureRequest(hold, 4_000n));
    assert.equal(again.result?.answer, Answer.APPROVED);
  });

  it('is NOT_PERFORMED when Stripe rejects all requests', async () => {
    const hold = await fixture.placed();
    fixture.stripe.fail(CAPTURE, 'rate limit', 99);
    const { result } = await fixture.client.capture(captureRequest(hold));
    fixture.stripe.faults.length = 0;
    assert.deepEqual([result?.answer, result?.errorCode], [Answer.NOT_PERFORMED, 'rate_limited']);
  });

  for (const fault of ['cut before', 'cut after'] as const) {
    it(`is unknown while Stripe is down, and found by an inquiry: ${fault}`, async () => {
      const hold = await fixture.placed();
      const request = captureRequest(hold, 4_000n);
      fixture.stripe.fail(CAPTURE, fault, 99);
      await assert.rejects(fixture.client.capture(request), { code: status.UNAVAILABLE });
      await assert.rejects(fixture.client.inquire({ requestId: request.requestId, fence: true }), {
        code: status.UNAVAILABLE,
      });
      fixture.stripe.faults.length = 0;
      const { result } = await fixture.client.inquire({ requestId: request.requestId, fence: true });
      assert.equal(result?.answer, Answer.APPROVED);
      assert.equal((await booksAgree(fixture, hold.requestId)).captured, 4_000n);
      assert.deepEqual((await fixture.client.capture(request)).result, result);
    });
  }

  it('settles an unknown capture before the next one, and reports it to core', async () => {
    const hold = await fixture.placed();
    const lost = captureRequest(hold, 4_000n);
    fixture.stripe.fail(CAPTURE, 'cut after', 99);
    await assert.rejects(fixture.client.capture(lost), { code: status.UNAVAILABLE });
    fixture.stripe.faults.length = 0;
    const { result } = await fixture.client.capture(captureRequest(hold, 1_000n));
    assert.equal(result?.answer, Answer.APPROVED);
    assert.equal((await booksAgree(fixture, hold.requestId)).captured, 5_000n);
    await fixture.adapter.reportDue();
    const told = fixture.core.received.find(
      ({ event }) => event.case === 'operationSettled' && event.value.requestId === lost.requestId,
    );
    assert(told?.event.case === 'operationSettled');
    assert.equal(told.event.value.result?.answer, Answer.APPROVED);
  });

  for (const [fault, answer, captured] of [
    ['cut before', Answer.NOT_PERFORMED, 0n],
    ['cut after', Answer.APPROVED, 4_000n],
  ] as const) {
    it(`reads instead of sending again when Stripe may have pruned the key: ${fault}`, async () => {
      const hold = await fixture.placed();
      const request = captureRequest(hold, 4_000n);
      fixture.stripe.fail(CAPTURE, fault, 99);
      await assert.rejects(fixture.client.capture(request), { code: status.UNAVAILABLE });
      fixture.stripe.faults.length = 0;
      fixture.advance(25 * 60 * 60 * 1000);
      const sent = fixture.stripe.requests.filter(({ request: name }) => name === CAPTURE).length;
      const { result } = await fixture.client.inquire({ requestId: request.requestId, fence: true });
      assert.equal(result?.answer, answer);
      assert.equal(fixture.stripe.requests.filter(({ request: name }) => name === CAPTURE).length, sent);
      assert.equal((await booksAgree(fixture, hold.requestId)).captured, captured);
    });
  }

  it('is NOT_PERFORMED with authorization_expired once the hold has expired at Stripe', async () => {
    const hold = await fixture.placed();
    fixture.advance(8 * 24 * 60 * 60 * 1000);
    const { result } = await fixture.client.capture(captureRequest(hold));
    assert.deepEqual([result?.answer, result?.errorCode], [Answer.NOT_PERFORMED, 'authorization_expired']);
  });

  it('was not done when somebody else has captured meanwhile', async () => {
    const hold = await fixture.placed();
    const request = captureRequest(hold, 4_000n);
    fixture.stripe.fail(CAPTURE, 'cut before', 99);
    await assert.rejects(fixture.client.capture(request), { code: status.UNAVAILABLE });
    fixture.stripe.faults.length = 0;
    captureIntent(fixture.stripe.account(), intentOf(fixture, hold.requestId).id, { amount_to_capture: '4000' });
    fixture.advance(25 * 60 * 60 * 1000);
    const { result } = await fixture.client.inquire({ requestId: request.requestId, fence: true });
    assert.deepEqual([result?.answer, result?.errorCode], [Answer.NOT_PERFORMED, 'authorization_closed']);
  });
});
