import assert from 'node:assert/strict';
import { Answer } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../../suite.ts';
import { cancelIntent } from '../fake/payment-intents.ts';
import { settleRefund } from '../fake/refunds.ts';
import { completeSession } from '../fake/sessions.ts';
import {
  booksAgree,
  captureRequest,
  checkoutRequest,
  intentOf,
  refundRequest,
  startFixture,
  voidRequest,
} from '../fixture.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;

describe('without webhooks', () => {
  const fixture = forSuite(startFixture);

  async function told(about: string) {
    await fixture.adapter.lookAround();
    await fixture.adapter.reportDue();
    return fixture.core.received
      .map(({ event }) => event)
      .find(({ value }) => (value as { requestId?: string }).requestId === about);
  }

  it('the end of a checkout is noticed within a minute', async () => {
    const account = fixture.stripe.account('acct_plain');
    const checkout = checkoutRequest({ account: 'acct_plain' });
    await fixture.client.createCheckout(checkout);
    fixture.advance(16 * 60 * SECOND_MS);
    assert.equal(await told(checkout.requestId), undefined);
    const page = [...account.sessions.values()].find(({ client_reference_id: id }) => id === checkout.requestId);
    completeSession(account, page?.id ?? '', 'pm_card_visa');
    fixture.advance(61 * SECOND_MS);
    const event = await told(checkout.requestId);
    assert(event?.case === 'checkoutCompleted');
    assert.equal(event.value.result?.answer, Answer.APPROVED);
    const capture = await fixture.client.capture(captureRequest(checkout, 4_000n, true));
    assert.equal(capture.result?.answer, Answer.APPROVED);
    await booksAgree(fixture, checkout.requestId, 'acct_plain');
  });

  it('the end of a hold at Stripe is noticed within twelve hours', async () => {
    const hold = await fixture.placed();
    cancelIntent(fixture.stripe.account(), intentOf(fixture, hold.requestId).id, { cancellation_reason: 'fraudulent' });
    fixture.advance(12 * HOUR_MS);
    assert.equal((await told(hold.requestId))?.case, 'authorizationEnded');
  });

  it('the end of a refund that Stripe took is noticed', async () => {
    const hold = await fixture.placed('pm_card_pendingRefund');
    const capture = captureRequest(hold);
    await fixture.client.capture(capture);
    const refund = refundRequest(hold, capture, 500n);
    assert.equal((await fixture.client.refund(refund)).result?.answer, Answer.ACCEPTED);
    const [{ id } = assert.fail()] = [...fixture.stripe.account().refunds.values()].slice(-1);
    settleRefund(fixture.stripe.account(), id, 'succeeded');
    fixture.advance(HOUR_MS);
    assert.equal((await told(refund.requestId))?.case, 'operationSettled');
  });

  it('what is closed is looked at no more, and what is open ever less', async () => {
    const [open, closed] = [await fixture.placed(), await fixture.placed()];
    await fixture.client.void(voidRequest(closed));
    const looksAt = (hold: { requestId: string }) => {
      const { id } = intentOf(fixture, hold.requestId);
      return fixture.stripe.requests.filter(({ path }) => path === `GET /v1/payment_intents/${id}`).length;
    };
    for (let hour = 0; hour < 24; hour++) {
      fixture.advance(HOUR_MS);
      for (let turn = 0; turn < 4; turn++) await fixture.adapter.lookAround();
    }
    assert.equal(looksAt(closed), 0);
    assert(looksAt(open) >= 5 && looksAt(open) <= 15, String(looksAt(open)));
  });
});
