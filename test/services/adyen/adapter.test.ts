import assert from 'node:assert/strict';
import { type ServiceError, status } from '@grpc/grpc-js';
import { Answer, EntryKind, Finding, type Result } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { post } from './fake/by-itself.ts';
import type { Fault } from './fake/fake-adyen.ts';
import type { Item } from './fake/payment.ts';
import {
  captureRequest,
  type Fixture,
  holdRequest,
  inquiryOf,
  refundRequest,
  startFixture,
  voidRequest,
} from './fixture.ts';

describe('the adapter to Adyen', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => fixture.close());
  beforeEach(() => {
    fixture.core.received.length = 0;
    fixture.adyen.requests.length = 0;
    fixture.logged.length = 0;
  });

  const said = (result: Result | undefined) => [Answer[result?.answer ?? 0], result?.errorCode];
  const differs = () => fixture.logged.filter((line) => line.includes('books differ')).length;

  describe('when an answer does not come', () => {
    /** What a caller hears of a request whose first try has this fault, and what an inquiry finds afterwards. */
    const faults: readonly [Fault, string, string][] = [
      ['lost', 'UNAVAILABLE', 'APPROVED'],
      ['answerLost', 'UNAVAILABLE', 'APPROVED'],
      ['failed', 'UNAVAILABLE', 'APPROVED'],
      ['limited', 'APPROVED', 'APPROVED'],
      ['forbidden', 'NOT_PERFORMED', 'NOT_PERFORMED'],
    ];
    for (const [fault, heard, found] of faults) {
      it(`(${fault}) says ${heard}, and an inquiry finds ${found}: one payment at most`, async () => {
        const hold = holdRequest();
        fixture.adyen.faults.push(fault);
        const answer = await fixture.client.authorize(hold).then(
          ({ result }) => Answer[result?.answer ?? 0],
          (error: ServiceError) => status[error.code],
        );
        assert.equal(answer, heard);
        assert.equal(Answer[(await fixture.resultOf(hold))?.answer ?? 0], found);
        const payments = [...fixture.adyen.payments.values()].filter(({ reference }) => reference === hold.requestId);
        assert.equal(payments.length, found === 'APPROVED' ? 1 : 0);
        assert.deepEqual([...new Set(fixture.adyen.requests.map(({ key }) => key))], [hold.requestId]);
      });
    }

    it('believes no refusal that says nothing of an earlier try', async () => {
      const hold = await fixture.placed();
      const capture = captureRequest(hold);
      fixture.adyen.faults.push('answerLost', 'forbidden');
      await assert.rejects(fixture.client.capture(capture), { code: status.UNAVAILABLE });
      await assert.rejects(fixture.client.capture(capture), { code: status.UNAVAILABLE });
      assert.deepEqual(said((await fixture.client.capture(capture)).result), ['ACCEPTED', '']);
      await fixture.notify();
      assert.equal(fixture.paymentOf(hold).captured, 10_000);
      assert.equal((await fixture.books(hold)).captured, 10_000n);
    });

    it('sends again by itself, and reports what it found', async () => {
      const hold = await fixture.placed();
      const capture = captureRequest(hold);
      fixture.adyen.faults.push('lost');
      await assert.rejects(fixture.client.capture(capture), { code: status.UNAVAILABLE });
      fixture.advance(11_000);
      await fixture.adapter.sendAgain();
      await fixture.notify();
      const [event] = fixture.core.received;
      assert(event?.event.case === 'operationSettled' && event.event.value.requestId === capture.requestId);
      assert.equal(fixture.paymentOf(hold).captured, 10_000);
    });

    it('takes a notification for the answer that was lost', async () => {
      const hold = await fixture.placed();
      const capture = captureRequest(hold);
      fixture.adyen.faults.push('answerLost');
      await assert.rejects(fixture.client.capture(capture), { code: status.UNAVAILABLE });
      await fixture.notify();
      assert.deepEqual(said((await fixture.client.capture(capture)).result), ['APPROVED', '']);
      assert.equal(fixture.adyen.requests.filter(({ key }) => key === capture.requestId).length, 1);
    });

    it('does not send what Adyen may have forgotten: it stays at work, for an operator', async () => {
      const hold = await fixture.placed();
      const capture = captureRequest(hold);
      fixture.adyen.faults.push('lost');
      await assert.rejects(fixture.client.capture(capture), { code: status.UNAVAILABLE });
      fixture.advance(7 * 24 * 60 * 60 * 1000);
      const { finding, result } = await fixture.client.inquire(inquiryOf(hold, capture.requestId, EntryKind.CAPTURE));
      assert.deepEqual([Finding[finding], result], ['AT_WORK', undefined]);
      assert.equal(fixture.paymentOf(hold).captured, 0);
    });
  });

  describe('notifications', () => {
    it('end captures, refunds and voids; repeated ones change nothing', async () => {
      const hold = await fixture.placed();
      const capture = await fixture.captured(hold, 4_000n);
      const refund = refundRequest(hold, capture, 1_000n);
      assert.deepEqual(said((await fixture.client.refund(refund)).result), ['ACCEPTED', '']);
      await fixture.notify();
      const books = await fixture.books(hold);
      assert.deepEqual([books.captured, books.voided, books.refunded], [4_000n, 6_000n, 1_000n]);
      const released = await fixture.resultOf(hold, capture.requestId, EntryKind.CAPTURE);
      assert.equal(released?.amountReleased, 6_000n);
      const reports = fixture.core.received.length;
      await fixture.notify(...fixture.adyen.items);
      assert.deepEqual(await fixture.books(hold), books);
      assert.equal(fixture.core.received.length, reports);
    });

    it('may come in any order', async () => {
      const hold = await fixture.placed('stored_dispute_won');
      await fixture.client.capture(captureRequest(hold));
      const items = fixture.adyen.items.filter(
        ({ originalReference }) => originalReference === fixture.paymentOf(hold).pspReference,
      );
      assert.deepEqual(
        items.map(({ eventCode }) => eventCode),
        ['CAPTURE', 'CHARGEBACK', 'CHARGEBACK_REVERSED'],
      );
      for (const item of items.toReversed()) await fixture.notify(item);
      await fixture.notify(items[0] as Item);
      await fixture.notify(items[0] as Item);
      // What is due together is reported at once, and core takes it in any order.
      assert.deepEqual(fixture.core.received.map(({ event }) => event.case).toSorted(), [
        'captureReinstated',
        'captureReversed',
        'operationSettled',
      ]);
      const { captured, reversed } = await fixture.books(hold);
      assert.deepEqual([captured, reversed], [10_000n, 0n]);
    });

    it('that a capture failed after it was done take it back; before, they end it', async () => {
      for (const reordered of [false, true]) {
        const hold = await fixture.placed('stored_capture_fails_later');
        await fixture.notify();
        fixture.core.received.length = 0;
        const capture = captureRequest(hold);
        await fixture.client.capture(capture);
        const [done, failed] = fixture.adyen.items.slice(-2) as [Item, Item];
        for (const item of reordered ? [failed, done] : [done, failed]) await fixture.notify(item);
        const { captured, reversed } = await fixture.books(hold);
        assert.deepEqual([captured, reversed], reordered ? [0n, 0n] : [10_000n, 10_000n]);
        const [first] = said(await fixture.resultOf(hold, capture.requestId, EntryKind.CAPTURE));
        assert.equal(first, reordered ? 'NOT_PERFORMED' : 'APPROVED');
        assert.deepEqual(
          fixture.core.received.map(({ event }) => event.case),
          reordered ? ['operationSettled'] : ['operationSettled', 'captureReversed'],
        );
      }
    });

    it('that a refund failed after it was done say that it came back', async () => {
      const hold = await fixture.placed('stored_refund_fails_later');
      const refund = refundRequest(hold, await fixture.captured(hold), 1_000n);
      await fixture.client.refund(refund);
      const [done, failed] = fixture.adyen.items.slice(-2) as [Item, Item];
      await fixture.notify(done);
      assert.equal((await fixture.books(hold)).refunded, 1_000n);
      await fixture.notify(failed);
      assert.equal((await fixture.books(hold)).refunded, 0n);
      const again = fixture.adyen.notify('REFUNDED_REVERSED', fixture.paymentOf(hold), { ...failed, success: 'true' });
      await fixture.notify(again);
      const told = fixture.core.received.flatMap(({ event }) => {
        if (event.case === 'operationSettled') return [Answer[event.value.result?.answer ?? 0]];
        return event.case === 'refundReturned' ? [event.value.refundRequestId, event.value.amount] : [];
      });
      assert.deepEqual(told, ['APPROVED', 'APPROVED', refund.requestId, 1_000n]);
      const { entries } = await fixture.client.listEntries({ authorizationRequestId: hold.requestId });
      const entry = entries.find(({ requestId }) => requestId === refund.requestId);
      assert.deepEqual([entry?.answer, entry?.returned], [Answer.APPROVED, 1_000n]);
    });

    it('of a capture say what was captured in truth, which is booked, and what the rest gave back', async () => {
      const hold = await fixture.placed();
      const capture = captureRequest(hold);
      await fixture.client.capture(capture);
      const [item] = fixture.adyen.items.slice(-1) as [Item];
      const amount = { value: 6_000, currency: 'EUR' };
      await fixture.notify(fixture.adyen.notify('CAPTURE', fixture.paymentOf(hold), { ...item, amount }));
      const result = await fixture.resultOf(hold, capture.requestId, EntryKind.CAPTURE);
      assert.deepEqual(
        [result?.requestId, result?.amount, result?.amountReleased],
        [capture.requestId, 6_000n, 4_000n],
      );
      // Its captures, as they are listed, are what it says was captured.
      const { captured, voided } = await fixture.books(hold);
      assert.deepEqual([captured, voided], [6_000n, 4_000n]);
    });

    it('of what somebody did in the Customer Area reach core', async () => {
      const cancelled = await fixture.placed();
      fixture.adyen.notify('CANCELLATION', fixture.paymentOf(cancelled));
      const captured = await fixture.placed();
      const amount = { value: 4_000, currency: 'EUR' };
      fixture.adyen.notify('CAPTURE', fixture.paymentOf(captured), { amount });
      const refunded = await fixture.placed();
      await fixture.captured(refunded);
      fixture.core.received.length = 0;
      fixture.adyen.notify('REFUND', fixture.paymentOf(refunded), { amount });
      await fixture.notify();
      assert.deepEqual(
        [await fixture.books(cancelled), await fixture.books(captured), await fixture.books(refunded)].map((entry) => [
          entry.captured,
          entry.voided,
          entry.reversed,
        ]),
        [
          [0n, 10_000n, 0n],
          [4_000n, 6_000n, 0n],
          [10_000n, 0n, 4_000n],
        ],
      );
      assert(fixture.core.received.some(({ event }) => event.case === 'captureReversed'));
      const refused = await fixture.client.capture(captureRequest(cancelled));
      assert.equal(refused.result?.errorCode, 'authorization_voided');
    });

    it('of a payment wait for the one that says how Adyen names it', async () => {
      const hold = holdRequest();
      fixture.adyen.faults.push('answerLost');
      await assert.rejects(fixture.client.authorize(hold), { code: status.UNAVAILABLE });
      const [placed] = fixture.adyen.items.slice(-1) as [Item];
      const about = { merchantReference: hold.requestId };
      const cancelled = fixture.adyen.notify('CANCELLATION', fixture.paymentOf(hold), about);
      await fixture.notify(cancelled);
      await fixture.notify(placed);
      await fixture.notify(cancelled);
      assert.equal((await fixture.books(hold)).voided, 10_000n);
    });

    it('that a payment was cancelled or refunded do what was left to do', async () => {
      const [open, captured] = [await fixture.placed(), await fixture.placed()];
      await fixture.captured(captured);
      for (const hold of [open, captured]) fixture.adyen.notify('CANCEL_OR_REFUND', fixture.paymentOf(hold));
      await fixture.notify();
      assert.equal((await fixture.books(open)).voided, 10_000n);
      assert.equal((await fixture.books(captured)).reversed, 10_000n);
    });

    it('of an end wait for what is under way', async () => {
      const hold = await fixture.placed();
      const capture = captureRequest(hold, 4_000n);
      await fixture.client.capture(capture);
      const [done] = fixture.adyen.items.slice(-1) as [Item];
      await fixture.notify(fixture.adyen.notify('EXPIRE', fixture.paymentOf(hold)));
      assert.equal((await fixture.books(hold)).voided, 0n);
      await fixture.notify(done);
      assert.deepEqual(said(await fixture.resultOf(hold, capture.requestId, EntryKind.CAPTURE)), ['APPROVED', '']);
      assert.equal((await fixture.books(hold)).voided, 6_000n);
    });

    it('are refused without a signature, and cost nothing when they are about something else', async () => {
      const url = `http://127.0.0.1:${fixture.adapter.webhookPort}/webhook/adyen`;
      const hold = await fixture.placed();
      const item = fixture.adyen.notify('CANCELLATION', fixture.paymentOf(hold));
      assert.equal(await post(url, { ...item, additionalData: {} }), '');
      assert.equal(await post(url, item, { ...item, success: 'false' }), '');
      await fixture.notify(fixture.adyen.notify('CAPTURE', { ...fixture.paymentOf(hold), pspReference: 'of another' }));
      assert.equal((await fixture.books(hold)).voided, 0n);
      assert.equal(differs(), 0);
    });
  });

  describe('operations', () => {
    it('hold back what they take, and wait for one another', async () => {
      const hold = await fixture.placed();
      await fixture.client.capture(captureRequest(hold, 1n));
      const again = await fixture.client.capture(captureRequest(hold, 1n));
      assert.deepEqual(said(again.result), ['NOT_PERFORMED', 'operation_pending']);
      const release = await fixture.client.void(voidRequest(hold));
      assert.deepEqual(said(release.result), ['NOT_PERFORMED', 'operation_pending']);
      await fixture.notify();
      const closed = await fixture.client.capture(captureRequest(hold, 1n));
      assert.deepEqual(said(closed.result), ['NOT_PERFORMED', 'authorization_closed']);
    });

    it('that fail give back what they held', async () => {
      const hold = await fixture.placed('stored_captures_fail');
      const capture = await fixture.captured(hold);
      const result = await fixture.resultOf(hold, capture.requestId, EntryKind.CAPTURE);
      assert.deepEqual(said(result), ['NOT_PERFORMED', 'capture_failed']);
      assert.deepEqual(said((await fixture.client.void(voidRequest(hold))).result), ['ACCEPTED', '']);
      await fixture.notify();
      assert.equal(fixture.paymentOf(hold).cancelled, true);
      assert.equal((await fixture.books(hold)).voided, 10_000n);
    });
  });

  it('shows no key in its log', () => {
    assert(!fixture.logged.some((line) => /AQE_|44782DEF/.test(line)));
  });
});
