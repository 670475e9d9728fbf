import assert from 'node:assert/strict';
import { Answer } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../../suite.ts';
import type { Item } from '../fake/payment.ts';
import { captureRequest, refundRequest, startFixture } from '../fixture.ts';

describe('chargebacks at Adyen', () => {
  const fixture = forSuite(startFixture);

  async function sums(hold: Parameters<typeof fixture.books>[0]): Promise<bigint[]> {
    const { refunded, reversed } = await fixture.books(hold);
    return [refunded, reversed];
  }

  for (const [amount, success, expected] of [
    [10_000n, 'true', [10_000n, 10_000n]],
    [10_000n, 'false', [0n, 10_000n]],
    [4_000n, 'true', [4_000n, 10_000n]],
    [4_000n, 'false', [0n, 10_000n]],
  ] as const) {
    it(`do not wait for a refund of ${amount} that has no result; then it has success ${success}`, async () => {
      const hold = await fixture.placed();
      await fixture.client.refund(refundRequest(hold, await fixture.captured(hold), amount));
      const [notified] = fixture.adyen.items.slice(-1) as [Item];
      await fixture.notify(fixture.adyen.notify('CHARGEBACK', fixture.paymentOf(hold)));
      assert.deepEqual(await sums(hold), [0n, 10_000n]);
      await fixture.notify(fixture.adyen.notify('REFUND', fixture.paymentOf(hold), { ...notified, success }));
      await fixture.notify(...fixture.adyen.items.slice(-2));
      assert.deepEqual(await sums(hold), expected);
    });
  }

  it('take, the second time, what was refunded in between, too', async () => {
    const hold = await fixture.placed('stored_dispute_won');
    const capture = await fixture.captured(hold);
    const [{ pspReference } = assert.fail()] = fixture.adyen.items.slice(-1);
    // What came out of order waits.
    await fixture.notify(...fixture.adyen.items.slice(-1));
    await fixture.client.refund(refundRequest(hold, capture, 4_000n));
    await fixture.notify(...fixture.adyen.items.slice(-1));
    await fixture.notify(fixture.adyen.notify('SECOND_CHARGEBACK', fixture.paymentOf(hold), { pspReference }));
    assert.deepEqual(await sums(hold), [4_000n, 10_000n]);
  });

  it('give again what was taken under their own reference only, when that comes first', async () => {
    const hold = await fixture.placed();
    await fixture.captured(hold);
    const amount = (value: number) => ({ amount: { value, currency: 'EUR' } });
    await fixture.notify(fixture.adyen.notify('CHARGEBACK', fixture.paymentOf(hold), amount(4_000)));
    const taken = fixture.adyen.notify('CHARGEBACK', fixture.paymentOf(hold), amount(1_000));
    const { pspReference } = taken;
    const given = { ...amount(1_000), pspReference };
    await fixture.notify(fixture.adyen.notify('CHARGEBACK_REVERSED', fixture.paymentOf(hold), given));
    assert.deepEqual(await sums(hold), [0n, 4_000n]);
    await fixture.notify(taken);
    await fixture.notify(taken);
    assert.deepEqual(await sums(hold), [0n, 4_000n]);
  });

  it('give again what was taken when they name the payment only', async () => {
    const hold = await fixture.placed();
    await fixture.captured(hold);
    await fixture.notify(fixture.adyen.notify('CHARGEBACK', fixture.paymentOf(hold)));
    const { pspReference } = fixture.paymentOf(hold);
    const about = { pspReference, originalReference: '' };
    await fixture.notify(fixture.adyen.notify('CHARGEBACK_REVERSED', fixture.paymentOf(hold), about));
    assert.deepEqual(await sums(hold), [0n, 0n]);
  });

  for (const [by, reference] of [
    ['the reference of the dispute', () => ''],
    ['our own reference of the payment', ({ requestId }: { requestId: string }) => requestId],
  ] as const) {
    it(`without the reference of the payment are found by ${by}`, async () => {
      const hold = await fixture.placed();
      await fixture.captured(hold);
      const payment = fixture.paymentOf(hold);
      const { pspReference } = fixture.adyen.notify('CHARGEBACK', payment);
      await fixture.notify();
      const about = { pspReference, originalReference: '', merchantReference: reference(hold) };
      await fixture.notify(fixture.adyen.notify('CHARGEBACK_REVERSED', payment, about));
      assert.deepEqual(await sums(hold), [0n, 0n]);
      await fixture.notify(fixture.adyen.notify('SECOND_CHARGEBACK', payment, about));
      assert.deepEqual(await sums(hold), [0n, 10_000n]);
    });
  }

  it('of a payment that is not ours leave a line in the log', async () => {
    const hold = await fixture.placed();
    await fixture.captured(hold);
    const foreign = { ...fixture.paymentOf(hold), pspReference: 'OFANOTHER' };
    for (const originalReference of ['', 'OFANOTHER']) {
      fixture.logged.length = 0;
      const { pspReference } = fixture.adyen.notify('SECOND_CHARGEBACK', foreign, { originalReference });
      await fixture.notify(...fixture.adyen.items.slice(-1));
      const lines = fixture.logged.filter((line) => line.includes('notification ignored'));
      assert.equal(lines.filter((line) => line.includes(pspReference) && line.includes('unknown payment')).length, 1);
    }
    assert.deepEqual(await sums(hold), [0n, 0n]);
  });

  it('leave room for a refund that was done after all: core hears of it, and it is booked', async () => {
    const hold = await fixture.placed();
    const refund = refundRequest(hold, await fixture.captured(hold), 4_000n);
    await fixture.client.refund(refund);
    const [done] = fixture.adyen.items.slice(-1) as [Item];
    await fixture.notify(fixture.adyen.notify('REFUND', fixture.paymentOf(hold), { ...done, success: 'false' }));
    await fixture.notify(fixture.adyen.notify('CHARGEBACK', fixture.paymentOf(hold)));
    await fixture.notify(done);
    assert.deepEqual(await sums(hold), [4_000n, 10_000n]);
    const answers = fixture.core.received.flatMap(({ event }) =>
      event.case === 'operationSettled' && event.value.requestId === refund.requestId
        ? [Answer[event.value.result?.answer ?? 0]]
        : [],
    );
    assert.deepEqual(answers, ['NOT_PERFORMED', 'APPROVED']);
  });

  it('and failed captures take what was refunded, too', async () => {
    const hold = await fixture.placed('stored_capture_fails_later');
    const capture = captureRequest(hold);
    await fixture.client.capture(capture);
    const [done, failed] = fixture.adyen.items.slice(-2) as [Item, Item];
    await fixture.notify(done);
    await fixture.client.refund(refundRequest(hold, capture, 4_000n));
    const [refund] = fixture.adyen.items.slice(-1) as [Item];
    await fixture.notify(failed);
    assert.deepEqual(await sums(hold), [0n, 10_000n]);
    await fixture.notify(refund);
    assert.deepEqual(await sums(hold), [4_000n, 10_000n]);
  });

  for (const order of ['after both', 'before the failure', 'after a failure that came first', 'first'] as const) {
    it(`of a failed capture are given again when Adyen captures it again: ${order}`, async () => {
      const hold = await fixture.placed('stored_capture_fails_later');
      await fixture.client.capture(captureRequest(hold));
      const [done, failed] = fixture.adyen.items.slice(-2) as [Item, Item];
      const again = fixture.adyen.notify('CAPTURE', fixture.paymentOf(hold), {
        ...done,
        reason: 'Transaction Recaptured',
      });
      const orders = {
        'after both': [done, failed, again],
        'before the failure': [done, again, failed, again],
        'after a failure that came first': [failed, done, again],
        first: [again, done, failed, again],
      };
      for (const item of orders[order]) await fixture.notify(item);
      const { captured, reversed } = await fixture.books(hold);
      assert.deepEqual([captured, reversed], [10_000n, 0n]);
    });
  }
});
