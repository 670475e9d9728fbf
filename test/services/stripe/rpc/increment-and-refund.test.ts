import assert from 'node:assert/strict';
import { Answer, Finding } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../../suite.ts';
import { settleRefund } from '../fake/refunds.ts';
import {
  booksAgree,
  captureRequest,
  holdRequest,
  incrementRequest,
  intentOf,
  refundRequest,
  startFixture,
  voidRequest,
} from '../fixture.ts';

describe('increments and refunds', () => {
  const fixture = forSuite(startFixture);

  async function captured(amount = 10_000n) {
    const hold = await fixture.placed();
    const capture = captureRequest(hold, amount);
    assert.equal((await fixture.client.capture(capture)).result?.answer, Answer.APPROVED);
    return { hold, capture };
  }

  describe('increment()', () => {
    it('adds to the hold, which can then be captured', async () => {
      const hold = await fixture.placed();
      const { result } = await fixture.client.incrementAuthorization(incrementRequest(hold, 2_500n));
      assert.equal(result?.answer, Answer.APPROVED);
      assert.equal(result.capabilities?.severalCaptures, true);
      assert.equal((await fixture.client.capture(captureRequest(hold, 12_500n))).result?.answer, Answer.APPROVED);
      const books = await booksAgree(fixture, hold.requestId);
      assert.deepEqual([books.amount, books.incremented, books.captured], [10_000n, 2_500n, 12_500n]);
    });

    it('is DECLINED, and the hold remains unchanged', async () => {
      const hold = await fixture.placed();
      const { result } = await fixture.client.incrementAuthorization(incrementRequest(hold, 900_000n));
      assert.deepEqual([result?.answer, result?.errorCode], [Answer.DECLINED, 'insufficient_funds']);
      assert.equal((await booksAgree(fixture, hold.requestId)).incremented, 0n);
    });

    it('is not_supported where the card does not allow it, and after a capture', async () => {
      const plain = await fixture.placed('pm_card_credit_disableEnterpriseCardFeatures');
      const { hold } = await captured(1_000n);
      for (const about of [plain, hold]) {
        const { result } = await fixture.client.incrementAuthorization(incrementRequest(about, 100n));
        assert.deepEqual([result?.answer, result?.errorCode], [Answer.NOT_PERFORMED, 'not_supported']);
      }
    });

    for (const fault of ['cut before', 'cut after', 'error after', 'error before'] as const) {
      it(`succeeds once, or not at all: ${fault}`, async () => {
        const hold = await fixture.placed();
        fixture.stripe.fail('POST /v1/payment_intents/…/increment_authorization', fault, 1);
        const { result } = await fixture.client.incrementAuthorization(incrementRequest(hold, 500n));
        assert.equal(result?.answer, fault === 'error before' ? Answer.NOT_PERFORMED : Answer.APPROVED);
        await booksAgree(fixture, hold.requestId);
      });
    }
  });

  describe('refund()', () => {
    it('returns a part, then the rest, and never more', async () => {
      const { hold, capture } = await captured();
      assert.equal((await fixture.client.refund(refundRequest(hold, capture, 4_000n))).result?.answer, Answer.APPROVED);
      const over = await fixture.client.refund(refundRequest(hold, capture, 6_001n));
      assert.deepEqual([over.result?.answer, over.result?.errorCode], [Answer.NOT_PERFORMED, 'amount_exceeds_capture']);
      const { result } = await fixture.client.refund(refundRequest(hold, capture, 6_000n));
      assert.match(result?.reference ?? '', /^re_/);
      assert.equal((await booksAgree(fixture, hold.requestId)).refunded, 10_000n);
    });

    it('belongs to one capture, however many there are on the charge', async () => {
      const { hold, capture } = await captured(2_000n);
      await fixture.client.capture(captureRequest(hold, 5_000n));
      const over = await fixture.client.refund(refundRequest(hold, capture, 2_001n));
      assert.equal(over.result?.errorCode, 'amount_exceeds_capture');
      assert.equal((await fixture.client.refund(refundRequest(hold, capture, 2_000n))).result?.answer, Answer.APPROVED);
      const entry = (await fixture.entries(hold.requestId)).find(({ requestId }) => requestId === capture.requestId);
      assert.equal(entry?.refunded, 2_000n);
      assert.equal(
        (await fixture.client.refund(refundRequest(hold, holdRequest(), 1n))).result?.errorCode,
        'capture_not_found',
      );
    });

    for (const fault of ['cut before', 'cut after', 'error after', 'error before'] as const) {
      it(`succeeds once, or not at all: ${fault}`, async () => {
        const { hold, capture } = await captured();
        fixture.stripe.fail('POST /v1/refunds', fault, 1);
        const { result } = await fixture.client.refund(refundRequest(hold, capture, 500n));
        assert.equal(result?.answer, fault === 'error before' ? Answer.NOT_PERFORMED : Answer.APPROVED);
        await booksAgree(fixture, hold.requestId);
      });
    }

    describe('that is pending at Stripe', () => {
      before(() => Object.assign(fixture.stripe.account(), { refundStatus: 'pending' }));
      after(() => Object.assign(fixture.stripe.account(), { refundStatus: 'succeeded' }));

      it('has the same result when the request is repeated later', async () => {
        const { hold, capture } = await captured();
        const request = refundRequest(hold, capture, 6_000n);
        const first = await fixture.client.refund(request);
        fixture.advance(5_000);
        assert.deepEqual(await fixture.client.refund(request), first);
      });

      for (const [status, answer] of [
        ['succeeded', Answer.APPROVED],
        ['failed', Answer.NOT_PERFORMED],
      ] as const) {
        it(`is ACCEPTED, counts at once, and core is notified that it ${status}`, async () => {
          const { hold, capture } = await captured();
          const request = refundRequest(hold, capture, 6_000n);
          const first = await fixture.client.refund(request);
          assert.equal(first.result?.answer, Answer.ACCEPTED);
          assert(first.result.expectedBy);
          assert.equal((await fixture.client.refund(request)).result?.answer, Answer.ACCEPTED);
          const over = await fixture.client.refund(refundRequest(hold, capture, 4_001n));
          assert.equal(over.result?.errorCode, 'amount_exceeds_capture');
          const inquiry = await fixture.client.inquire({ requestId: request.requestId, fence: true });
          assert.deepEqual([inquiry.finding, inquiry.result?.answer], [Finding.AT_WORK, Answer.ACCEPTED]);
          settleRefund(fixture.stripe.account(), first.result.reference, status);
          await fixture.deliverAll();
          const told = fixture.core.received.filter(
            ({ event }) => event.case === 'operationSettled' && event.value.requestId === request.requestId,
          );
          assert.deepEqual(
            told.map(({ event }) => event.case === 'operationSettled' && event.value.result?.answer),
            [answer],
          );
          assert.equal((await fixture.client.refund(request)).result?.answer, answer);
          await booksAgree(fixture, hold.requestId);
        });
      }
    });

    it('that the bank returns after it had succeeded is reported as returned, once, and can be made again', async () => {
      const { hold, capture } = await captured();
      const request = refundRequest(hold, capture, 6_000n);
      const { result } = await fixture.client.refund(request);
      settleRefund(fixture.stripe.account(), result?.reference ?? '', 'failed');
      await fixture.deliverAll();
      const updated = fixture.stripe.account().events.findLast(({ type }) => type === 'refund.failed');
      assert(updated);
      await fixture.deliver({ ...updated, id: `${updated.id}_updated`, type: 'refund.updated' });
      await fixture.adapter.dealWithNotices();
      await fixture.adapter.reportDue();
      const events = fixture.core.received.map(({ event }) => event);
      assert(
        !events.some(({ case: name, value }) => name === 'operationSettled' && value.requestId === request.requestId),
      );
      const returned = events.flatMap((event) => (event.case === 'refundReturned' ? [event.value] : []));
      assert.deepEqual(
        returned.map(({ refundRequestId, amount }) => [refundRequestId, amount]),
        [[request.requestId, 6_000n]],
      );
      assert.equal((await fixture.client.refund(request)).result?.answer, Answer.APPROVED);
      assert.equal((await booksAgree(fixture, hold.requestId)).refunded, 0n);
      const entry = (await fixture.entries(hold.requestId)).find(({ requestId }) => requestId === request.requestId);
      assert.deepEqual([entry?.answer, entry?.returned], [Answer.APPROVED, 6_000n]);
      const again = await fixture.client.refund(refundRequest(hold, capture, 6_000n));
      assert.equal(again.result?.answer, Answer.APPROVED);
      assert.equal((await booksAgree(fixture, hold.requestId)).refunded, 6_000n);
    });
  });

  it('OCTs, partial releases and extensions are not_supported, with the same answer again', async () => {
    const hold = await fixture.placed();
    const { tokenId, terminalId, userId, merchantId, account, amount, currency } = hold;
    const oct = {
      requestId: holdRequest().requestId,
      tokenId,
      terminalId,
      userId,
      merchantId,
      account,
      amount,
      currency,
    };
    const before = fixture.stripe.requests.length;
    for (const _ of [1, 2]) {
      const credit = await fixture.client.credit(oct);
      assert.deepEqual([credit.result?.answer, credit.result?.errorCode], [Answer.NOT_PERFORMED, 'not_supported']);
    }
    const decrease = { ...voidRequest(hold), amount: 100n, currency };
    const refused = await fixture.client.decreaseAuthorization(decrease);
    assert.deepEqual([refused.result?.answer, refused.result?.errorCode], [Answer.NOT_PERFORMED, 'not_supported']);
    assert.deepEqual((await fixture.client.decreaseAuthorization(decrease)).result, refused.result);
    const extension = await fixture.client.extendAuthorization(voidRequest(hold));
    assert.equal(extension.result?.errorCode, 'not_supported');
    assert.equal(fixture.stripe.requests.length, before);
    assert.equal(intentOf(fixture, hold.requestId).status, 'requires_capture');
    const placed = await fixture.client.authorize(hold);
    assert.equal(placed.result?.capabilities?.partialRelease, false);
    assert.equal((await booksAgree(fixture, hold.requestId)).voided, 0n);
  });
});
