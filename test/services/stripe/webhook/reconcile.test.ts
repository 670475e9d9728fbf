import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { AuthorizationEnd, type ReportEventRequest } from '../../../../proto/gen/holdfast/processor/v1/event_pb.js';
import { Answer, EntryKind } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../../suite.ts';
import type { Event } from '../fake/account.ts';
import { cancelIntent, captureIntent } from '../fake/payment-intents.ts';
import { closeDispute, createRefund, openDispute, settleRefund } from '../fake/refunds.ts';
import {
  booksAgree,
  CONNECT_SECRET,
  captureRequest,
  inquiryOf,
  intentOf,
  refundRequest,
  startFixture,
  voidRequest,
} from '../fixture.ts';

describe('changes made at Stripe itself', () => {
  const fixture = forSuite(startFixture);
  const placed = (account = '') => fixture.placed('pm_card_visa', account);

  async function captured(...amounts: bigint[]) {
    const hold = await placed();
    const captures = [];
    for (const amount of amounts) {
      const capture = captureRequest(hold, amount);
      assert.equal((await fixture.client.capture(capture)).result?.answer, Answer.APPROVED);
      captures.push(capture);
    }
    return { hold, captures, intent: intentOf(fixture, hold.requestId) };
  }
  /** Returns the events that core received about identifiers, each once. */
  function told(...about: string[]): ReportEventRequest['event'][] {
    const named = fixture.core.received.filter(({ event: { value } }) => {
      const ids = value as unknown as Record<string, string>;
      return ['requestId', 'captureRequestId', 'authorizationRequestId'].some((name) =>
        about.includes(ids[name] ?? ''),
      );
    });
    return [...new Map(named.map((report) => [report.eventId, report.event])).values()];
  }

  it('report an authorization that expired at Stripe as ended, with what was left of it', async () => {
    const { hold } = await captured(3_000n);
    const whole = await placed();
    fixture.advance(8 * 24 * 60 * 60 * 1000);
    await fixture.deliverAll();
    for (const [{ requestId }, amount] of [
      [hold, 7_000n],
      [whole, 10_000n],
    ] as const) {
      const [event, ...more] = told(requestId);
      assert.deepEqual(more, []);
      assert(event?.case === 'authorizationEnded');
      assert.deepEqual([event.value.end, event.value.amount], [AuthorizationEnd.EXPIRED, amount]);
      const books = await booksAgree(fixture, requestId);
      assert(books.endedAt);
    }
    const late = await fixture.client.void(voidRequest(whole));
    assert.equal(late.result?.errorCode, 'authorization_expired');
    assert.equal((await fixture.client.capture(captureRequest(whole))).result?.errorCode, 'authorization_expired');
  });

  it('report one cancelled in the dashboard as voided', async () => {
    const hold = await placed();
    cancelIntent(fixture.stripe.account(), intentOf(fixture, hold.requestId).id, { cancellation_reason: 'fraudulent' });
    await fixture.deliverAll();
    const [event] = told(hold.requestId);
    assert(event?.case === 'authorizationEnded');
    assert.deepEqual([event.value.end, event.value.amount], [AuthorizationEnd.VOIDED, 10_000n]);
    const late = await fixture.client.void(voidRequest(hold));
    assert.equal(late.result?.errorCode, 'authorization_voided');
  });

  it('report one closed in the dashboard after a partial capture as voided', async () => {
    const { hold, intent } = await captured(3_000n);
    captureIntent(fixture.stripe.account(), intent.id, { amount_to_capture: '0' });
    await fixture.deliverAll();
    const [event] = told(hold.requestId);
    assert(event?.case === 'authorizationEnded');
    assert.deepEqual([event.value.end, event.value.amount], [AuthorizationEnd.VOIDED, 7_000n]);
    await booksAgree(fixture, hold.requestId);
  });

  it('include a capture in the dashboard, in full or in part', async () => {
    for (const amount of [10_000n, 4_000n]) {
      const hold = await placed();
      const { id } = intentOf(fixture, hold.requestId);
      captureIntent(fixture.stripe.account(), id, { amount_to_capture: String(amount) });
      await fixture.deliverAll();
      const byCase = (a: { case: string | undefined }, b: { case: string | undefined }) =>
        (b.case ?? '').localeCompare(a.case ?? '');
      const [foreign, ended, ...more] = told(hold.requestId).sort(byCase);
      assert.deepEqual(more, []);
      assert(foreign?.case === 'foreignCapture' && ended?.case === 'authorizationEnded');
      assert.equal(foreign.value.amount, amount);
      assert.deepEqual([ended.value.end, ended.value.amount], [AuthorizationEnd.VOIDED, 10_000n - amount]);
      const books = await booksAgree(fixture, hold.requestId);
      assert.deepEqual([books.captured, books.voided], [amount, 10_000n - amount]);
      const [entry] = (await fixture.entries(hold.requestId)).filter(({ kind }) => kind === EntryKind.CAPTURE);
      assert.equal(entry?.requestId, foreign.value.captureRequestId);
      const late = await fixture.client.capture(captureRequest(hold, 1_000n));
      assert.equal(late.result?.answer, Answer.NOT_PERFORMED);
    }
  });

  it('include a part that was captured by somebody else, after which the rest is ours to capture', async () => {
    const hold = await placed();
    const { id } = intentOf(fixture, hold.requestId);
    captureIntent(fixture.stripe.account(), id, { amount_to_capture: '4000', final_capture: 'false' });
    await fixture.deliverAll();
    assert.deepEqual(
      told(hold.requestId).map((event) => event.case),
      ['foreignCapture'],
    );
    const { result } = await fixture.client.capture(captureRequest(hold, 1_000n, true));
    assert.deepEqual([result?.answer, result?.amountReleased], [Answer.APPROVED, 5_000n]);
    await booksAgree(fixture, hold.requestId);
  });

  for (const [name, ends] of [
    ['a hold', Answer.DECLINED],
    ['a hold', Answer.NOT_PERFORMED],
    ['a capture', Answer.NOT_PERFORMED],
  ] as const) {
    it(`include ${name} that the ledger has as ${Answer[ends]}, and that Stripe made`, async () => {
      const { hold, captures } = await captured(4_000n);
      const requestId = name === 'a hold' ? hold.requestId : (captures[0]?.requestId ?? '');
      await fixture.sql('UPDATE stripe.entry SET answer = $2 WHERE request_id = $1', [requestId, ends]);
      await fixture.sql('UPDATE stripe.entry SET captured = 0 WHERE request_id = $1', [hold.requestId]);
      if (name === 'a hold')
        await fixture.sql('DELETE FROM stripe.entry WHERE request_id = $1', [captures[0]?.requestId]);
      await fixture.deliverAll();
      await fixture.client.inquire(inquiryOf(hold, captures[0]?.requestId, EntryKind.CAPTURE));
      await fixture.adapter.reportDue();
      const event = told(requestId).find(({ case: said }) => said === 'operationSettled');
      assert(event?.case === 'operationSettled');
      assert.equal(event.value.result?.answer, Answer.APPROVED);
      await booksAgree(fixture, hold.requestId);
    });
  }

  it('exclude our own operations', async () => {
    const { hold, captures } = await captured(3_000n);
    await fixture.client.void(voidRequest(hold));
    const other = await placed();
    await fixture.client.void(voidRequest(other));
    await fixture.client.refund(refundRequest(hold, captures[0] as { requestId: string }, 1_000n));
    await fixture.deliverAll();
    assert.deepEqual(told(hold.requestId, other.requestId, captures[0]?.requestId ?? ''), []);
  });

  it('include a dispute, which reverses the capture, and reinstates it when it is won', async () => {
    const { captures, intent, hold } = await captured(10_000n);
    const dispute = openDispute(fixture.stripe.account(), intent.id, 4_000);
    await fixture.deliverAll();
    const captureRequestId = captures[0]?.requestId ?? '';
    const [reversed] = told(captureRequestId);
    assert(reversed?.case === 'captureReversed');
    assert.deepEqual([reversed.value.amount, reversed.value.reference], [4_000n, dispute.id]);
    const refund = await fixture.client.refund(refundRequest(hold, { requestId: captureRequestId }, 6_001n));
    assert.equal(refund.result?.errorCode, 'amount_exceeds_capture');
    closeDispute(fixture.stripe.account(), dispute.id, 'won');
    await fixture.deliverAll();
    const [, reinstated, ...more] = told(captureRequestId);
    assert.deepEqual(more, []);
    assert(reinstated?.case === 'captureReinstated');
    assert.deepEqual([reinstated.value.amount, reinstated.value.reversalEventId], [4_000n, `${dispute.id}-1`]);
    assert.equal((await booksAgree(fixture, hold.requestId)).reversed, 0n);
  });

  it('include a lost dispute, which remains a reversal, but no inquiry before a dispute', async () => {
    const { captures, intent } = await captured(10_000n);
    const { id } = openDispute(fixture.stripe.account(), intent.id, 4_000);
    openDispute(fixture.stripe.account(), intent.id, 5_000, 'warning_needs_response');
    await fixture.deliverAll();
    closeDispute(fixture.stripe.account(), id, 'lost');
    await fixture.deliverAll();
    assert.deepEqual(
      told(captures[0]?.requestId ?? '').map((event) => event.case),
      ['captureReversed'],
    );
  });

  for (const [name, amount] of [
    ['all', 10_000n],
    ['a part', 4_000n],
  ] as const) {
    it(`include a dispute at once beside a pending refund of ${name}, however that ends`, async () => {
      for (const status of ['succeeded', 'failed'] as const) {
        const hold = await fixture.placed('pm_card_pendingRefund');
        const capture = captureRequest(hold);
        await fixture.client.capture(capture);
        const refund = refundRequest(hold, capture, amount);
        assert.equal((await fixture.client.refund(refund)).result?.answer, Answer.ACCEPTED);
        openDispute(fixture.stripe.account(), intentOf(fixture, hold.requestId).id, 10_000);
        await fixture.deliverAll();
        assert.deepEqual(
          told(capture.requestId).map((event) => event.case),
          ['captureReversed'],
        );
        const [{ id } = assert.fail()] = [...fixture.stripe.account().refunds.values()].slice(-1);
        settleRefund(fixture.stripe.account(), id, status);
        await fixture.deliverAll();
        const [settled] = told(refund.requestId);
        assert(settled?.case === 'operationSettled');
        const isRefunded = status === 'succeeded';
        assert.equal(settled.value.result?.answer, isRefunded ? Answer.APPROVED : Answer.NOT_PERFORMED);
        const { refunded, reversed } = await booksAgree(fixture, hold.requestId);
        assert.deepEqual([refunded, reversed], [isRefunded ? amount : 0n, 10_000n]);
      }
    });
  }

  it("include a refund made elsewhere that carries the payment's own metadata", async () => {
    const { captures, intent, hold } = await captured(10_000n);
    const form = { payment_intent: intent.id, amount: '2500', metadata: intent.metadata };
    const refund = createRefund(fixture.stripe.account(), form);
    await fixture.deliverAll();
    assert.deepEqual(
      told(captures[0]?.requestId ?? '').map((event) => event.case),
      ['captureReversed'],
    );
    settleRefund(fixture.stripe.account(), refund.id, 'failed');
    await fixture.deliverAll();
    assert.equal((await booksAgree(fixture, hold.requestId)).answer, Answer.APPROVED);
  });

  it('do not say which of several captures was disputed', async () => {
    const { hold, captures, intent } = await captured(3_000n, 7_000n);
    openDispute(fixture.stripe.account(), intent.id, 5_000);
    await fixture.deliverAll();
    const events = told(hold.requestId, ...captures.map(({ requestId }) => requestId));
    assert.equal(events.length, 1);
    assert(events[0]?.case === 'captureReversed');
    assert.deepEqual([events[0].value.authorizationRequestId, events[0].value.captureRequestId], [hold.requestId, '']);
    assert.equal((await booksAgree(fixture, hold.requestId)).reversed, 5_000n);
  });

  it('include a dispute that is lost after all, also of what was refunded of its capture', async () => {
    const { hold, captures, intent } = await captured(3_000n);
    const { id } = openDispute(fixture.stripe.account(), intent.id, 3_000);
    await fixture.deliverAll();
    closeDispute(fixture.stripe.account(), id, 'won');
    await fixture.deliverAll();
    await fixture.client.capture(captureRequest(hold, 7_000n));
    const refund = refundRequest(hold, captures[0] ?? assert.fail(), 2_000n);
    assert.equal((await fixture.client.refund(refund)).result?.answer, Answer.APPROVED);
    closeDispute(fixture.stripe.account(), id, 'lost');
    await fixture.deliverAll();
    assert.equal((await booksAgree(fixture, hold.requestId)).reversed, 3_000n);
  });

  it('include a dispute that is lost after all, of what another one has left of all captures', async () => {
    const { hold, intent } = await captured(3_000n);
    const { id } = openDispute(fixture.stripe.account(), intent.id, 3_000);
    await fixture.deliverAll();
    closeDispute(fixture.stripe.account(), id, 'won');
    await fixture.deliverAll();
    await fixture.client.capture(captureRequest(hold, 7_000n));
    openDispute(fixture.stripe.account(), intent.id, 9_000);
    await fixture.deliverAll();
    closeDispute(fixture.stripe.account(), id, 'lost');
    await fixture.deliverAll();
    assert.equal((await booksAgree(fixture, hold.requestId)).reversed, 10_000n);
  });

  it('include a refund made in the dashboard, a reversal that its failure undoes', async () => {
    const { captures, intent } = await captured(10_000n);
    const refund = createRefund(fixture.stripe.account(), { payment_intent: intent.id, amount: '2500' });
    await fixture.deliverAll();
    settleRefund(fixture.stripe.account(), refund.id, 'failed');
    await fixture.deliverAll();
    const events = told(captures[0]?.requestId ?? '');
    assert.deepEqual(
      events.map((event) => event.case),
      ['captureReversed', 'captureReinstated'],
    );
  });

  it('are reported the same when their events arrive late, twice and in any order', async () => {
    const { captures, intent } = await captured(10_000n);
    const { id } = openDispute(fixture.stripe.account(), intent.id, 4_000);
    closeDispute(fixture.stripe.account(), id, 'won');
    openDispute(fixture.stripe.account(), intent.id, 1_000);
    const events = fixture.stripe.account().events.filter((event) => aboutOf(event) === intent.id);
    for (const event of [...events, ...events].reverse()) {
      await fixture.deliver(event);
      await fixture.adapter.dealWithNotices();
    }
    await fixture.adapter.reportDue();
    // The first dispute was won before the adapter received its event: nothing is missing because of it.
    const found = told(captures[0]?.requestId ?? '');
    assert.deepEqual(
      found.map((event) => [event.case, (event.value as { amount: bigint }).amount]),
      [['captureReversed', 1_000n]],
    );
  });

  it('include those of connected accounts', async () => {
    const hold = await placed('acct_shop');
    const account = fixture.stripe.account('acct_shop');
    cancelIntent(account, intentOf(fixture, hold.requestId, 'acct_shop').id, {});
    for (const event of account.events) assert.equal(await fixture.deliver(event, CONNECT_SECRET), 200);
    await fixture.adapter.dealWithNotices();
    await fixture.adapter.reportDue();
    assert.equal(told(hold.requestId)[0]?.case, 'authorizationEnded');
  });

  it('are read again after Stripe was down', async () => {
    const hold = await placed();
    cancelIntent(fixture.stripe.account(), intentOf(fixture, hold.requestId).id, {});
    fixture.stripe.fail('GET /v1/payment_intents/…', 'cut before', 99);
    await fixture.deliverAll();
    assert.deepEqual(told(hold.requestId), []);
    fixture.stripe.faults.length = 0;
    while (told(hold.requestId).length === 0) await delay(50);
    assert.equal(told(hold.requestId)[0]?.case, 'authorizationEnded');
  });

  it('are reported until core accepts them', async () => {
    const hold = await placed();
    fixture.core.answer = 'refuse';
    cancelIntent(fixture.stripe.account(), intentOf(fixture, hold.requestId).id, {});
    await fixture.deliverAll();
    fixture.core.answer = 'accept';
    const before = fixture.core.received.length;
    while (fixture.core.received.length === before) await delay(50);
    assert.equal(told(hold.requestId).length, 1);
  });
});

function aboutOf(event: Event): string {
  const object = event.data.object as { id: string; payment_intent?: string };
  return object.payment_intent ?? object.id;
}
