import assert from 'node:assert/strict';
import { Answer, EntryKind, Finding } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../suite.ts';
import { completeSession } from './fake/sessions.ts';
import {
  booksAgree,
  captureRequest,
  checkoutRequest,
  type Hold,
  holdRequest,
  incrementRequest,
  inquiryOf,
  intentOf,
  refundRequest,
  startFixture,
  voidRequest,
} from './fixture.ts';

describe('a ledger that was restored to an earlier state', () => {
  const fixture = forSuite(startFixture);

  /** Forgets what was done about a hold; `all`: the hold, too. */
  async function forget(hold: Hold, all: boolean): Promise<void> {
    await fixture.sql('DELETE FROM stripe.entry WHERE authorization_request_id = $1', [hold.requestId]);
    const zero =
      'UPDATE stripe.entry SET captured = 0, voided = 0, incremented = 0, refunded = 0 WHERE request_id = $1';
    await fixture.sql(all ? 'DELETE FROM stripe.entry WHERE request_id = $1' : zero, [hold.requestId]);
  }

  const operations = {
    async capture(hold: Hold) {
      const request = captureRequest(hold, 4_000n);
      return { request, kind: EntryKind.CAPTURE, answer: await fixture.client.capture(request) };
    },
    async increment(hold: Hold) {
      const request = incrementRequest(hold, 500n);
      return { request, kind: EntryKind.INCREMENT, answer: await fixture.client.incrementAuthorization(request) };
    },
    async 'void of the rest'(hold: Hold) {
      await fixture.client.capture(captureRequest(hold, 4_000n));
      const request = voidRequest(hold);
      return { request, kind: EntryKind.VOID, answer: await fixture.client.void(request) };
    },
    async refund(hold: Hold) {
      const capture = captureRequest(hold, 4_000n);
      await fixture.client.capture(capture);
      const request = refundRequest(hold, capture, 500n);
      return { request, kind: EntryKind.REFUND, answer: await fixture.client.refund(request) };
    },
  };

  for (const [name, operate] of Object.entries(operations)) {
    for (const all of [false, true]) {
      it(`finds a ${name} at Stripe${all ? ', and its hold' : ''}`, async () => {
        const hold = await fixture.placed();
        const { request, kind, answer } = await operate(hold);
        assert.equal(answer.result?.answer, Answer.APPROVED);
        await forget(hold, all);
        const asked = inquiryOf(hold, request.requestId, kind);
        const authorizationReference = intentOf(fixture, hold.requestId).id;
        const { finding, result } = await fixture.client.inquire({ ...asked, authorizationReference });
        assert.deepEqual([finding, result?.answer], [Finding.DONE, Answer.APPROVED]);
        assert.equal(result?.reference, answer.result?.reference);
        await booksAgree(fixture, hold.requestId);
      });

      it(`fences a ${name} that Stripe does not have${all ? ', with its hold gone' : ''}`, async () => {
        const hold = await fixture.placed();
        await forget(hold, all);
        const { requestId } = holdRequest();
        const kind = { capture: EntryKind.CAPTURE, increment: EntryKind.INCREMENT, refund: EntryKind.REFUND }[name];
        const asked = inquiryOf(hold, requestId, kind ?? EntryKind.VOID);
        const authorizationReference = intentOf(fixture, hold.requestId).id;
        const { finding, fenced } = await fixture.client.inquire({ ...asked, authorizationReference });
        assert.deepEqual([finding, fenced], [Finding.NEVER_SEEN, true]);
      });
    }
  }

  it('finds a hold at Stripe', async () => {
    const hold = await fixture.placed();
    await forget(hold, true);
    const { finding, result } = await fixture.client.inquire(inquiryOf(hold));
    assert.deepEqual([finding, result?.answer], [Finding.DONE, Answer.APPROVED]);
    assert.equal(result?.reference, intentOf(fixture, hold.requestId).id);
    const again = await fixture.client.authorize(hold);
    assert.equal(again.result?.reference, result?.reference);
    await booksAgree(fixture, hold.requestId);
  });

  /** Restores a hold to when it was stored, and nothing of Stripe's was. */
  const rewind = (hold: Hold) =>
    fixture.sql(
      `UPDATE stripe.entry SET answer = 0, intent_id = NULL, session_id = NULL, reference = '', acted_at = NULL,
         stage = CASE kind WHEN 'checkout' THEN 'sent' ELSE 'stored' END WHERE request_id = $1`,
      [hold.requestId],
    );

  it('finds a hold at Stripe that was just stored', async () => {
    const hold = await fixture.placed();
    await rewind(hold);
    const { finding, result } = await fixture.client.inquire(inquiryOf(hold));
    assert.deepEqual([finding, result?.answer], [Finding.DONE, Answer.APPROVED]);
    assert.equal((await fixture.client.capture(captureRequest(hold, 4_000n))).result?.answer, Answer.APPROVED);
    await booksAgree(fixture, hold.requestId);
  });

  for (const [name, lose] of [
    ['is gone', (hold: Hold) => forget(hold, true)],
    ['was just stored', rewind],
  ] as const) {
    it(`captures and voids a hold that ${name}, by its reference`, async () => {
      const hold = await fixture.placed();
      const authorizationReference = intentOf(fixture, hold.requestId).id;
      await lose(hold);
      const capture = { ...captureRequest(hold, 4_000n), authorizationReference };
      assert.equal((await fixture.client.capture(capture)).result?.answer, Answer.APPROVED);
      await lose(hold);
      const { result } = await fixture.client.void({ ...voidRequest(hold), authorizationReference });
      assert.deepEqual([result?.answer, result?.amountReleased], [Answer.APPROVED, 6_000n]);
      await booksAgree(fixture, hold.requestId);
    });

    it(`fences what was never sent about a hold that ${name}`, async () => {
      const hold = await fixture.placed();
      const authorizationReference = intentOf(fixture, hold.requestId).id;
      await lose(hold);
      const asked = inquiryOf(hold, voidRequest(hold).requestId, EntryKind.VOID);
      assert.equal((await fixture.client.inquire({ ...asked, authorizationReference })).fenced, true);
    });
  }

  it('waits for Stripe before it says that it has lost a hold, never that nothing is left of it', async () => {
    const hold = await fixture.placed();
    const authorizationReference = intentOf(fixture, hold.requestId).id;
    await forget(hold, true);
    const release = { ...voidRequest(hold), authorizationReference };
    fixture.stripe.fail('GET /v1/payment_intents/…', 'cut before', 99);
    await assert.rejects(fixture.client.void(release), /UNAVAILABLE/);
    fixture.stripe.faults.length = 0;
    const other = intentOf(fixture, (await fixture.placed()).requestId).id;
    for (const reference of [other, 'pi_unknown', 'no PaymentIntent']) {
      const another = { ...voidRequest(hold), authorizationReference: reference };
      assert.equal((await fixture.client.void(another)).result?.errorCode, 'authorization_lost', reference);
    }
  });

  it('takes up a hold and a checkout that were just stored when Stripe announces them', async () => {
    const hold = await fixture.placed();
    const checkout = checkoutRequest();
    await fixture.client.createCheckout(checkout);
    await Promise.all([rewind(hold), rewind(checkout)]);
    const sessions = [...fixture.stripe.account().sessions.values()];
    const page = sessions.find(({ client_reference_id: id }) => id === checkout.requestId);
    completeSession(fixture.stripe.account(), page?.id ?? '', 'pm_card_visa');
    await fixture.deliverAll();
    for (const { requestId } of [hold, checkout]) {
      const told = fixture.core.received.find(
        ({ event: { value } }) => (value as { requestId?: string }).requestId === requestId,
      );
      assert(told?.event.case === 'operationSettled' || told?.event.case === 'checkoutCompleted');
      assert.equal(told.event.value.result?.answer, Answer.APPROVED);
    }
  });

  it('reports again what it has forgotten, by an event that core does not take for another one', async () => {
    const { requestId } = checkoutRequest();
    await fixture.client.createCheckout({ ...checkoutRequest(), requestId });
    const sessions = [...fixture.stripe.account().sessions.values()];
    const page = sessions.find(({ client_reference_id: id }) => id === requestId);
    completeSession(fixture.stripe.account(), page?.id ?? '', 'pm_card_visa');
    await fixture.deliverAll();
    await fixture.sql('DELETE FROM stripe.event WHERE request_id = $1', [requestId]);
    const forget = `UPDATE stripe.entry SET answer = 0, stage = 'sent', intent_id = NULL, acted_at = NULL,
      look_at = now() WHERE request_id = $1`;
    fixture.advance(60_000);
    await fixture.sql(forget, [requestId]);
    await fixture.adapter.lookAround();
    await fixture.adapter.reportDue();
    const about = fixture.core.received.filter(
      ({ event: { value } }) => (value as { requestId?: string }).requestId === requestId,
    );
    const [first, again] = about;
    assert(first && again && about.length === 2);
    assert.notEqual(first.eventId, again.eventId);
  });

  it('makes sure that a hold that was not confirmed never is', async () => {
    const hold = holdRequest();
    fixture.dieAt = 'intent stored';
    await assert.rejects(fixture.client.authorize(hold));
    fixture.dieAt = undefined;
    await forget(hold, true);
    const { finding, result } = await fixture.client.inquire(inquiryOf(hold));
    assert.deepEqual([finding, result?.errorCode], [Finding.DONE, 'never_confirmed']);
    assert.equal(intentOf(fixture, hold.requestId).status, 'canceled');
  });

  it('finds an open checkout at Stripe, and its end', async () => {
    const checkout = checkoutRequest();
    await fixture.client.createCheckout(checkout);
    await forget(checkout, true);
    assert.equal((await fixture.client.inquire(inquiryOf(checkout))).finding, Finding.AT_WORK);
    const sessions = [...fixture.stripe.account().sessions.values()];
    const page = sessions.find(({ client_reference_id: id }) => id === checkout.requestId);
    completeSession(fixture.stripe.account(), page?.id ?? '', 'pm_card_visa');
    const { finding, result } = await fixture.client.inquire(inquiryOf(checkout));
    assert.deepEqual([finding, result?.answer], [Finding.DONE, Answer.APPROVED]);
    await booksAgree(fixture, checkout.requestId);
  });

  it('fences nothing that it cannot look for, and waits while Stripe is down', async () => {
    const { requestId } = holdRequest();
    const unsaid = await fixture.client.inquire({ requestId, fence: true });
    assert.deepEqual([unsaid.finding, unsaid.fenced], [Finding.NEVER_SEEN, false]);
    const hold = await fixture.placed();
    await forget(hold, true);
    const capture = inquiryOf(hold, requestId, EntryKind.CAPTURE);
    assert.equal((await fixture.client.inquire(capture)).fenced, false);
    fixture.stripe.fail('GET /v1/payment_intents', 'bad gateway before', 99);
    await assert.rejects(fixture.client.inquire(inquiryOf(hold)), /UNAVAILABLE/);
    fixture.stripe.faults.length = 0;
    assert.equal((await fixture.client.inquire(inquiryOf(hold))).finding, Finding.DONE);
  });

  it('asks again for a list that Stripe has no time for', async () => {
    const hold = await fixture.placed();
    await forget(hold, true);
    fixture.stripe.fail('GET /v1/payment_intents', 'rate limit', 1);
    assert.equal((await fixture.client.inquire(inquiryOf(hold))).finding, Finding.DONE);
  });

  it('reports to core what Stripe says of a payment that it has fenced, or does not know', async () => {
    for (const isFenced of [true, false]) {
      const hold = await fixture.placed();
      await forget(hold, true);
      const fence = `INSERT INTO stripe.entry (request_id, kind, merchant_id, account, terminal_id, user_id, token_id,
        amount, currency,
        final_capture, merchant_name, merchant_reference, return_url, save_card, stage, answer, error_code)
        VALUES ($1, 'fence', '', '', '', '', '', 0, '', false, '', '', '', false, 'ended', 3, 'fenced')`;
      if (isFenced) await fixture.sql(fence, [hold.requestId]);
      await fixture.deliverAll();
      const told = fixture.core.received.find(
        ({ event }) => event.case === 'operationSettled' && event.value.requestId === hold.requestId,
      );
      assert(told?.event.case === 'operationSettled');
      assert.equal(told.event.value.result?.answer, Answer.APPROVED);
      await booksAgree(fixture, hold.requestId);
    }
  });
});
