import assert from 'node:assert/strict';
import { API_VERSION } from '../../../../services/stripe/api/client.ts';
import { forSuite } from '../../../suite.ts';
import { booksAgree, captureRequest, checkoutRequest, inquiryOf, refundRequest, startFixture } from '../fixture.ts';

describe('the version of Stripe’s API', () => {
  const fixture = forSuite(startFixture);

  it('is the one of the code in every request, and does not leave a refund of a partial capture', async () => {
    const hold = await fixture.placed();
    const capture = captureRequest(hold, 4_000n, true);
    await fixture.client.capture(capture);
    await fixture.client.refund(refundRequest(hold, capture, 1_000n));
    await fixture.client.createCheckout(checkoutRequest());
    await fixture.client.inquire(inquiryOf(hold));
    await fixture.deliverAll();
    assert(fixture.stripe.requests.length > 8);
    assert.deepEqual([...new Set(fixture.stripe.requests.map(({ version }) => version))], [API_VERSION]);
    const { captured, refunded, reversed } = await booksAgree(fixture, hold.requestId);
    assert.deepEqual([captured, refunded, reversed], [4_000n, 1_000n, 0n]);
  });

  it('is one in which what a partial capture leaves becomes no refund', () => {
    assert(API_VERSION >= '2025-03-31');
  });
});
