import assert from 'node:assert/strict';
import { Answer, EntryKind } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../../suite.ts';
import type { Item } from '../fake/payment.ts';
import { captureRequest, startFixture } from '../fixture.ts';

describe("Adyen's notifications", () => {
  const fixture = forSuite(startFixture);

  it('may have null for what they do not say', async () => {
    const hold = await fixture.placed();
    const capture = captureRequest(hold);
    await fixture.client.capture(capture);
    const [item] = fixture.adyen.items.slice(-1) as [Item];
    // The reason is not signed.
    await fixture.notify({ ...item, reason: null as unknown as string });
    const result = await fixture.resultOf(hold, capture.requestId, EntryKind.CAPTURE);
    assert.equal(result?.answer, Answer.APPROVED);
  });

  for (const [what, odd] of [
    ['NUL', '\u0000'],
    ['another control character', '\u001f'],
    ['half of a surrogate pair', '\ud800'],
  ] as const) {
    it(`may have ${what} anywhere: they are taken once, and others go on`, async () => {
      const hold = await fixture.placed();
      const payment = fixture.paymentOf(hold);
      const odds = ['pspReference', 'originalReference', 'merchantReference', 'reason', 'eventCode'] as const;
      for (const field of odds) {
        const item = fixture.adyen.notify('CANCELLATION', payment, { [field]: `A${odd}B` });
        await fixture.notify(item);
        await fixture.notify(item);
      }
      // Signed, and about the payment: what is odd is another field.
      assert.equal((await fixture.books(hold)).voided, 10_000n);
    });
  }
});
