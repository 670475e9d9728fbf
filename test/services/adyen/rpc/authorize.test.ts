import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import { v7 as uuidv7 } from 'uuid';
import { Answer, MerchantReason, type Result } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../../suite.ts';
import { captureRequest, holdRequest, refundRequest, startFixture } from '../fixture.ts';

const said = (result: Result | undefined) => [Answer[result?.answer ?? 0], result?.errorCode];

describe('authorize() at Adyen', () => {
  const fixture = forSuite(startFixture);
  beforeEach(() => {
    fixture.adyen.requests.length = 0;
  });

  const cases = [
    ['stored_ok', 'APPROVED', ''],
    ['stored_refused', 'DECLINED', 'not_enough_balance'],
    ['stored_error', 'NOT_PERFORMED', 'acquirer_error'],
    ['stored_challenge', 'DECLINED', 'authentication_required'],
    ['stored_pending', 'ACCEPTED', ''],
    ['unknown', 'NOT_PERFORMED', 'token_invalid'],
  ] as const;
  for (const [token, answer, code] of cases) {
    it(`answers ${answer} ${code} for ${token}`, async () => {
      const { result } = await fixture.client.authorize(holdRequest(token));
      assert.deepEqual(said(result), [answer, code]);
    });
  }

  const cards: readonly [token: string, ...(string | undefined)[]][] = [
    ['stored_ok', 'debit', '', ''],
    ['stored_charge', 'credit', '', ''],
    ['stored_prepaid', 'prepaid', '', ''],
    ['stored_authenticated', 'debit', 'authenticated', ''],
    ['stored_attempted', 'debit', 'attempted', ''],
    ['stored_failed', 'debit', 'failed', ''],
    ['stored_refused', 'debit', '', '51'],
    ['stored_silent', undefined, undefined, undefined],
  ];
  for (const [token, ...expected] of cards) {
    it(`says what Adyen says of the card of ${token}, in a repetition, too`, async () => {
      const hold = holdRequest(token);
      const { result } = await fixture.client.authorize(hold);
      const { funding, threeDSecure, declineCode } = result?.card ?? {};
      assert.deepEqual([funding, threeDSecure, declineCode], expected);
      assert.deepEqual((await fixture.client.authorize(hold)).result, result);
    });
  }

  it('has what Adyen authorises after an authentication that nobody was sent to given back', async () => {
    const hold = holdRequest('stored_challenge_passed');
    const { result } = await fixture.client.authorize(hold);
    assert.deepEqual(said(result), ['DECLINED', 'authentication_required']);
    await fixture.notify();
    const told = fixture.core.received.flatMap(({ event }) =>
      event.case === 'operationSettled' && event.value.requestId === hold.requestId ? [event.value.result] : [],
    );
    assert.deepEqual(told.map(said), [['APPROVED', '']], 'core voids what it has called failed');
    const { requestId: authorizationRequestId } = hold;
    await fixture.client.void({ requestId: uuidv7(), authorizationRequestId });
    await fixture.notify();
    assert.equal(fixture.paymentOf(hold).cancelled, true);
  });

  it('sends no customer anywhere, as Describe says', async () => {
    assert.equal((await fixture.client.describe({})).stepUp, false);
    const more = { customerPresent: true, returnUrl: 'https://shop.example/done' };
    const { result } = await fixture.client.authorize({ ...holdRequest('stored_challenge'), ...more });
    assert.deepEqual([...said(result), result?.nextAction], ['DECLINED', 'authentication_required', undefined]);
  });

  it('reports what was received only, when Adyen notifies it', async () => {
    const hold = holdRequest('stored_pending');
    await fixture.client.authorize(hold);
    await fixture.notify();
    assert.deepEqual(said(await fixture.resultOf(hold)), ['APPROVED', '']);
    const events = fixture.core.received.flatMap(({ event }) =>
      event.case === 'operationSettled' ? [event.value] : [],
    );
    const event = events.find(({ requestId }) => requestId === hold.requestId);
    assert.equal(event?.result?.reference, fixture.paymentOf(hold).pspReference);
  });

  it('says whether the customer takes part, and says it again when it sends again', async () => {
    for (const [customerPresent, interaction, model] of [
      [true, 'Ecommerce', 'CardOnFile'],
      [false, 'ContAuth', 'UnscheduledCardOnFile'],
    ] as const) {
      const hold = { ...holdRequest(), customerPresent };
      fixture.adyen.requests.length = 0;
      fixture.adyen.faults.push('lost');
      await assert.rejects(fixture.client.authorize(hold), { code: status.UNAVAILABLE });
      await fixture.client.authorize({ ...hold, customerPresent: !customerPresent });
      assert.deepEqual(
        fixture.adyen.requests.map(({ body }) => [body.shopperInteraction, body.recurringProcessingModel]),
        [
          [interaction, model],
          [interaction, model],
        ],
      );
    }
  });

  it('says why the merchant initiates it, where Adyen has a word for that, and never of a customer', async () => {
    for (const [merchantReason, customerPresent, usage] of [
      [MerchantReason.NO_SHOW, false, 'noShow'],
      [MerchantReason.DELAYED_CHARGE, false, 'delayedCharge'],
      [MerchantReason.REAUTHORIZATION, false, undefined],
      [MerchantReason.NO_SHOW, true, undefined],
    ] as const) {
      fixture.adyen.requests.length = 0;
      await fixture.client.authorize({ ...holdRequest(), merchantReason, customerPresent });
      assert.equal(fixture.adyen.requests[0]?.body.industryUsage, usage);
    }
  });

  it("says the card network's identifier, where Adyen says it, the same in an inquiry", async () => {
    const hold = holdRequest();
    const { result } = await fixture.client.authorize(hold);
    assert.equal(result?.networkTransactionId, '123456789012345');
    assert.deepEqual(await fixture.resultOf(hold), result);
  });

  it('says how long the card scheme guarantees it, the same in a repetition and an inquiry', async () => {
    const hold = holdRequest();
    const { result } = await fixture.client.authorize(hold);
    const seconds = (result?.guaranteedUntil?.seconds ?? 0n) - (result?.actedAt?.seconds ?? 0n);
    assert.equal(seconds, 5n * 86_400n);
    assert.deepEqual((await fixture.client.authorize(hold)).result, result);
    assert.deepEqual(await fixture.resultOf(hold), result);
  });

  it('says what was authorised in truth', async () => {
    const partly = await fixture.client.authorize(holdRequest('stored_partly'));
    assert.deepEqual([...said(partly.result), partly.result?.amount], ['APPROVED', '', 5_000n]);
    const whole = await fixture.client.authorize(holdRequest());
    assert.equal(whole.result?.amount, undefined);
  });

  it('sends a return address, which Adyen demands in Live', async () => {
    await fixture.placed();
    assert.equal(fixture.adyen.requests[0]?.body.returnUrl, 'https://shop.example/returned');
  });

  it('sends a valid reference of the shopper for every user, the same each time, and no other user has it', async () => {
    const users = ['ann', 'u'.repeat(64), '', 'a', 'ab', 'é', '😀'];
    for (const userId of [...users, ...users]) {
      const { result } = await fixture.client.authorize({ ...holdRequest(), userId });
      assert.equal(Answer[result?.answer ?? 0], 'APPROVED');
    }
    const sent = fixture.adyen.requests.map(({ body }) => body.shopperReference);
    assert.deepEqual(sent.slice(users.length), sent.slice(0, users.length));
    assert.equal(new Set(sent).size, users.length);
    assert.deepEqual(sent.slice(0, 2), users.slice(0, 2));
    for (const reference of sent.slice(2, users.length)) assert.match(reference ?? '', /^u[0-9a-f]{64}$/);
  });

  it('refuses a token that is longer than those of Adyen, and sends nothing', async () => {
    const { result } = await fixture.client.authorize(holdRequest(`stored_${'k'.repeat(60)}`));
    assert.deepEqual(said(result), ['NOT_PERFORMED', 'token_invalid']);
    assert.equal(fixture.adyen.requests.length, 0);
  });
});

describe('currencies that Adyen counts otherwise than ISO 4217', () => {
  const fixture = forSuite(startFixture);
  beforeEach(() => {
    fixture.adyen.requests.length = 0;
  });
  for (const [currency, factor] of [
    ['ISK', 100],
    ['CLP', 100],
    ['IDR', 1 / 100],
    ['CVE', 1 / 100],
  ] as const) {
    it(`are converted at every door: ${currency}`, async () => {
      const hold = { ...holdRequest(), currency };
      assert.deepEqual(said((await fixture.client.authorize(hold)).result), ['APPROVED', '']);
      const capture = await fixture.captured(hold, 6_000n);
      await fixture.client.refund(refundRequest(hold, capture, 1_000n));
      await fixture.notify();
      const payment = fixture.paymentOf(hold);
      assert.deepEqual(
        [payment.authorised, payment.captured, payment.refunded],
        [10_000 * factor, 6_000 * factor, 1_000 * factor],
      );
      const amount = { value: 2_000 * factor, currency };
      fixture.adyen.notify('CHARGEBACK', payment, { amount });
      await fixture.notify();
      const { captured, voided, refunded, reversed } = await fixture.books(hold);
      assert.deepEqual([captured, voided, refunded, reversed], [6_000n, 4_000n, 1_000n, 2_000n]);
    });
  }

  it('refuse what Adyen cannot take exactly, and nothing is sent', async () => {
    const inexact = { ...holdRequest(), currency: 'IDR', amount: 10_050n };
    assert.deepEqual(said((await fixture.client.authorize(inexact)).result), ['NOT_PERFORMED', 'amount_not_supported']);
    assert.equal(fixture.adyen.requests.length, 0);
    const hold = { ...holdRequest(), currency: 'CVE' };
    await fixture.client.authorize(hold);
    const { result } = await fixture.client.capture(captureRequest(hold, 150n));
    assert.deepEqual(said(result), ['NOT_PERFORMED', 'amount_not_supported']);
    assert.equal(fixture.adyen.requests.length, 1);
  });
});
