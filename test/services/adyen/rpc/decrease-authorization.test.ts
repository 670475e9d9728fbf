import assert from 'node:assert/strict';
import { Answer, EntryKind, type Result } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../../suite.ts';
import type { Item } from '../fake/payment.ts';
import { captureRequest, type Hold, startFixture, voidRequest } from '../fixture.ts';

const said = (result: Result | undefined) => [Answer[result?.answer ?? 0], result?.errorCode];

describe('decreaseAuthorization() at Adyen', () => {
  const fixture = forSuite(() => startFixture());

  const changeOf = (hold: Hold, amount: bigint) => ({ ...voidRequest(hold), amount, currency: hold.currency });
  const sentOf = (hold: Hold) => {
    const path = `/payments/${fixture.paymentOf(hold).pspReference}/amountUpdates`;
    return fixture.adyen.requests.filter((request) => request.path === path);
  };
  const lastItem = () => fixture.adyen.items.at(-1) as Item;

  it('asks for the new total, and gives the part back when Adyen notifies it', async () => {
    const hold = await fixture.placed();
    const decrease = changeOf(hold, 3_000n);
    assert.deepEqual(said((await fixture.client.decreaseAuthorization(decrease)).result), ['ACCEPTED', '']);
    const [sent, ...others] = sentOf(hold);
    assert.deepEqual(others, []);
    assert.partialDeepStrictEqual(sent, { key: decrease.requestId, body: { reference: decrease.requestId } });
    assert.deepEqual(sent?.body.amount, { value: 7_000, currency: 'EUR' });
    assert.equal((await fixture.books(hold)).voided, 0n);
    await fixture.notify();
    const result = await fixture.resultOf(hold, decrease.requestId, EntryKind.DECREASE);
    assert.deepEqual(
      [...said(result), result?.amount, result?.capabilities?.partialRelease],
      ['APPROVED', '', undefined, true],
    );
    assert.equal((await fixture.books(hold)).voided, 3_000n);
    await fixture.notify(lastItem());
    assert.equal((await fixture.books(hold)).voided, 3_000n, 'a repeated notification changes nothing');
  });

  it('counts in the total of later changes, and in what a capture gives back', async () => {
    const hold = await fixture.placed();
    const { client } = fixture;
    for (const [change, total] of [
      [() => client.decreaseAuthorization(changeOf(hold, 3_000n)), 7_000],
      [() => client.incrementAuthorization(changeOf(hold, 500n)), 7_500],
      [() => client.extendAuthorization(voidRequest(hold)), 7_500],
      [() => client.decreaseAuthorization(changeOf(hold, 1_500n)), 6_000],
    ] as const) {
      const { result } = await change();
      assert.deepEqual(said(result), ['ACCEPTED', '']);
      assert.equal(sentOf(hold).at(-1)?.body.amount?.value, total);
      await fixture.notify();
    }
    const tooMuch = await client.capture(captureRequest(hold, 6_001n));
    assert.deepEqual(said(tooMuch.result), ['NOT_PERFORMED', 'amount_exceeds_authorization']);
    const capture = await fixture.captured(hold, 5_000n);
    const { amountReleased } = (await fixture.resultOf(hold, capture.requestId, EntryKind.CAPTURE)) ?? {};
    assert.equal(amountReleased, 1_000n);
    const { captured, voided, incremented } = await fixture.books(hold);
    assert.deepEqual([captured, voided, incremented], [5_000n, 5_500n, 500n]);
  });

  it('refuses all that is left, and what comes beside another change', async () => {
    const hold = await fixture.placed();
    const decrease = async (amount: bigint) =>
      said((await fixture.client.decreaseAuthorization(changeOf(hold, amount))).result);
    assert.deepEqual(await decrease(10_000n), ['NOT_PERFORMED', 'amount_exceeds_authorization']);
    assert.deepEqual(await decrease(9_999n), ['ACCEPTED', '']);
    assert.deepEqual(await decrease(1n), ['NOT_PERFORMED', 'operation_pending']);
    const capture = await fixture.client.capture(captureRequest(hold, 1n));
    assert.deepEqual(said(capture.result), ['NOT_PERFORMED', 'operation_pending']);
    assert.equal(sentOf(hold).length, 1);
  });

  it('leaves the hold as it was when Adyen notifies that it failed', async () => {
    const hold = await fixture.placed('stored_amountUpdates_fail');
    const decrease = changeOf(hold, 3_000n);
    await fixture.client.decreaseAuthorization(decrease);
    await fixture.notify();
    const result = await fixture.resultOf(hold, decrease.requestId, EntryKind.DECREASE);
    assert.deepEqual(said(result), ['NOT_PERFORMED', 'authorisation_adjustment_failed']);
    assert.equal((await fixture.books(hold)).voided, 0n);
  });

  it('says what was given back in truth, from the total that Adyen notifies', async () => {
    const hold = await fixture.placed();
    const decrease = changeOf(hold, 3_000n);
    await fixture.client.decreaseAuthorization(decrease);
    const amount = { value: 8_000, currency: 'EUR' };
    await fixture.notify(
      fixture.adyen.notify('AUTHORISATION_ADJUSTMENT', fixture.paymentOf(hold), { ...lastItem(), amount }),
    );
    const result = await fixture.resultOf(hold, decrease.requestId, EntryKind.DECREASE);
    assert.deepEqual([...said(result), result?.amount], ['APPROVED', '', 2_000n]);
    assert.equal((await fixture.books(hold)).voided, 2_000n);
  });
});

describe('decreaseAuthorization() at Adyen, of what was not authorised as PreAuth', () => {
  const fixture = forSuite(() => startFixture({ ADYEN_ADJUSTMENTS: 'off' }));

  it('is not_supported, as its authorization says, and nothing is sent', async () => {
    const hold = await fixture.placed();
    assert.equal((await fixture.resultOf(hold))?.capabilities?.partialRelease, false);
    const before = fixture.adyen.requests.length;
    const { result } = await fixture.client.decreaseAuthorization({
      ...voidRequest(hold),
      amount: 1n,
      currency: 'EUR',
    });
    assert.deepEqual(said(result), ['NOT_PERFORMED', 'not_supported']);
    assert.equal(fixture.adyen.requests.length, before);
  });
});
