import assert from 'node:assert/strict';
import { forSuite } from '../../../suite.ts';
import { captureIntent } from '../fake/payment-intents.ts';
import { createRefund, leaveRefund } from '../fake/refunds.ts';
import { captureRequest, intentOf, startFixture } from '../fixture.ts';

describe('what Stripe says of a payment', () => {
  const fixture = forSuite(startFixture);

  it('includes no refund of what a partial capture left, as one by an older version of the API leaves', async () => {
    const hold = await fixture.placed();
    const { id } = intentOf(fixture, hold.requestId);
    captureIntent(fixture.stripe.account(), id, { amount_to_capture: '4000' });
    const left = leaveRefund(fixture.stripe.account(), id);
    const given = createRefund(fixture.stripe.account(), { payment_intent: id, amount: '1000' });
    await fixture.deliverAll();
    const [{ captured, reversed } = assert.fail()] = (await fixture.entries(hold.requestId)).filter(
      ({ requestId }) => requestId === hold.requestId,
    );
    assert.deepEqual([captured, reversed], [4_000n, 1_000n]);
    const reported = fixture.core.received.map(({ event: { value } }) => (value as { reference?: string }).reference);
    assert.deepEqual([reported.includes(given.id), reported.includes(left.id)], [true, false]);
  });

  it('includes a refund made elsewhere also where the API key may not read what moved the balance', async () => {
    const hold = await fixture.placed();
    await fixture.client.capture(captureRequest(hold));
    const intent = intentOf(fixture, hold.requestId);
    createRefund(fixture.stripe.account(), { payment_intent: intent.id, amount: '1000' });
    fixture.stripe.fail('GET /v1/balance_transactions/…', 'no permission');
    await fixture.deliverAll();
    const [{ reversed } = assert.fail()] = await fixture.entries(hold.requestId);
    assert.equal(reversed, 1_000n);
    assert(fixture.logged.some((line) => line.includes('balance transaction unread')));
  });
});
