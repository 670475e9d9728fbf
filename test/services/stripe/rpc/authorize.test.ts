import assert from 'node:assert/strict';
import { timestampDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { status } from '@grpc/grpc-js';
import { Answer } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../../suite.ts';
import { booksAgree, holdRequest, intentOf, intentsOf, startFixture } from '../fixture.ts';

describe('authorize()', () => {
  const fixture = forSuite(startFixture);

  it('creates a payment, stores its id, and then confirms it', async () => {
    const hold = holdRequest();
    const { result } = await fixture.client.authorize(hold);
    assert.equal(result?.answer, Answer.APPROVED);
    const intent = intentOf(fixture, hold.requestId);
    assert.equal(result.reference, intent.id);
    assert.equal(intent.status, 'requires_capture');
    const asked = fixture.stripe.requests.filter(({ key }) => key.startsWith(hold.requestId));
    assert.deepEqual(
      asked.map(({ request, key }) => [request, key]),
      [
        ['POST /v1/payment_intents', `${hold.requestId}:create`],
        ['POST /v1/payment_intents/…/confirm', hold.requestId],
      ],
    );
    await booksAgree(fixture, hold.requestId);
  });

  it("returns the card, Stripe's expiry, and the features of the authorization", async () => {
    const { result } = await fixture.client.authorize(holdRequest());
    const { brand, last4, expiryMonth, expiryYear } = result?.card ?? {};
    assert.deepEqual(
      { brand, last4, expiryMonth, expiryYear },
      { brand: 'visa', last4: '4242', expiryMonth: 12, expiryYear: 2034 },
    );
    const days = result?.expiresAt && (timestampDate(result.expiresAt).getTime() - Date.now()) / 86_400_000;
    assert(days && days > 6.9 && days < 7.1);
    const { severalCaptures, increments, extension, refunds } = result?.capabilities ?? {};
    assert.deepEqual([severalCaptures, increments, extension, refunds], [true, true, false, true]);
    const plain = await fixture.client.authorize(holdRequest('pm_card_credit_disableEnterpriseCardFeatures'));
    assert.deepEqual(
      [plain.result?.capabilities?.severalCaptures, plain.result?.capabilities?.increments],
      [false, false],
    );
  });

  const cards: readonly [token: string, brand: string, funding: string, threeDSecure: string, declineCode: string][] = [
    ['pm_card_visa', 'visa', 'credit', '', ''],
    ['pm_card_visa_debit', 'visa', 'debit', '', ''],
    ['pm_card_mastercard_prepaid', 'mastercard', 'prepaid', '', ''],
    ['pm_fake_authenticated', 'visa', 'credit', 'authenticated', ''],
    ['pm_fake_attempted', 'visa', 'credit', 'attempted', ''],
    ['pm_fake_notSupported', 'visa', 'credit', '', ''],
    ['pm_card_chargeDeclinedInsufficientFunds', 'visa', 'credit', '', '51'],
    ['pm_card_authenticationRequired', 'visa', 'credit', '', ''],
  ];
  for (const [token, ...expected] of cards) {
    it(`says what Stripe says of ${token}, in a repetition and to an inquiry, too`, async () => {
      const hold = holdRequest(token);
      const { result } = await fixture.client.authorize(hold);
      const { brand, funding, threeDSecure, declineCode } = result?.card ?? {};
      assert.deepEqual([brand, funding, threeDSecure, declineCode], expected);
      assert.deepEqual((await fixture.client.authorize(hold)).result, result);
      const inquired = await fixture.client.inquire({ requestId: hold.requestId, fence: true });
      assert.deepEqual(inquired.result, result);
    });
  }

  it('finds the card of a decline whose answers are lost', async () => {
    const hold = holdRequest('pm_card_chargeDeclined');
    fixture.stripe.fail('POST /v1/payment_intents/…/confirm', 'cut after', 99);
    const { result } = await fixture.client.authorize(hold);
    fixture.stripe.faults.length = 0;
    assert.deepEqual([result?.card?.last4, result?.card?.declineCode], ['0002', '05']);
  });

  it('does without the features where Stripe refuses them to the account', async () => {
    const hold = holdRequest('pm_card_visa', 'acct_plain');
    const { result } = await fixture.client.authorize(hold);
    assert.equal(result?.answer, Answer.APPROVED);
    assert.equal(result.capabilities?.severalCaptures, false);
    assert.equal(intentsOf(fixture, hold.requestId, 'acct_plain').length, 1);
    const { authorizations } = await fixture.client.describe({ account: 'acct_plain' });
    assert.deepEqual([authorizations?.severalCaptures, authorizations?.increments], [false, false]);
    assert.equal((await fixture.client.describe({})).authorizations?.severalCaptures, true);
    assert(fixture.logged.some((line) => line.includes('features refused') && line.includes('acct_plain')));
  });

  it('remembers for a day, over a restart, that an account has no features', async () => {
    const confirmations = () =>
      fixture.stripe.requests.filter(({ request, account }) => /confirm/.test(request) && account === 'acct_plain')
        .length;
    await fixture.placed('pm_card_visa', 'acct_plain');
    await fixture.restart();
    const before = confirmations();
    await fixture.placed('pm_card_visa', 'acct_plain');
    assert.equal(confirmations() - before, 1);
    fixture.advance(25 * 60 * 60 * 1000);
    await fixture.placed('pm_card_visa', 'acct_plain');
    assert.equal(confirmations() - before, 3);
  });

  it("gives Stripe the merchant's reference, which may differ in a repetition", async () => {
    const hold = { ...holdRequest(), merchantReference: 'room 217' };
    const { result } = await fixture.client.authorize(hold);
    const { description, metadata } = intentOf(fixture, hold.requestId);
    assert.deepEqual([description, metadata.holdfast_merchant_reference], ['room 217', 'room 217']);
    const again = await fixture.client.authorize({ ...hold, merchantReference: 'room 218' });
    assert.deepEqual(again.result, result);
  });

  it('gives Stripe what the hold is for, and says whether the customer is there', async () => {
    const before = fixture.stripe.requests.length;
    const hold = { ...holdRequest(), merchantReference: 'room 217', description: 'Two nights', customerPresent: true };
    await fixture.client.authorize(hold);
    assert.equal(intentOf(fixture, hold.requestId).description, 'Two nights');
    await fixture.client.authorize(holdRequest());
    const confirmed = fixture.stripe.requests.slice(before).filter(({ request }) => /confirm/.test(request));
    assert.deepEqual(
      confirmed.map(({ form }) => form.off_session),
      ['false', 'true'],
    );
  });

  it("says on the customer's statement what the settings say for the merchant", async () => {
    const before = fixture.stripe.requests.length;
    for (const merchantId of ['acme', 'other']) await fixture.client.authorize({ ...holdRequest(), merchantId });
    const created = fixture.stripe.requests.slice(before).filter(({ request }) => /payment_intents$/.test(request));
    assert.deepEqual(
      created.map(({ form }) => form.statement_descriptor_suffix),
      ['ROOM BAR', undefined],
    );
  });

  it('asks for an extended authorization unless the capture is expected soon', async () => {
    const asked = async (days?: number) => {
      const before = fixture.stripe.requests.length;
      const expectedCaptureAt = days && timestampFromMs(Date.now() + days * 86_400_000);
      await fixture.client.authorize({ ...holdRequest(), ...(expectedCaptureAt && { expectedCaptureAt }) });
      const confirmed = fixture.stripe.requests.slice(before).find(({ request }) => /confirm/.test(request));
      return JSON.stringify(confirmed?.form).includes('request_extended_authorization');
    };
    assert.deepEqual([await asked(), await asked(1), await asked(20)], [true, false, true]);
  });

  it('acts on the merchant’s own account', async () => {
    const hold = holdRequest('pm_card_visa', 'acct_shop');
    const { result } = await fixture.client.authorize(hold);
    assert.equal(result?.answer, Answer.APPROVED);
    assert.equal(intentsOf(fixture, hold.requestId, '').length, 0);
    assert.equal(intentOf(fixture, hold.requestId, 'acct_shop').status, 'requires_capture');
    const foreign = await fixture.client.authorize(holdRequest('pm_card_visa', 'acct_nobodys'));
    assert.deepEqual([foreign.result?.answer, foreign.result?.errorCode], [Answer.NOT_PERFORMED, 'not_permitted']);
  });

  for (const [token, code] of [
    ['pm_card_chargeDeclined', 'generic_decline'],
    ['pm_card_chargeDeclinedInsufficientFunds', 'insufficient_funds'],
    ['pm_card_authenticationRequired', 'authentication_required'],
  ] as const) {
    it(`is DECLINED with ${code} for ${token}`, async () => {
      const hold = holdRequest(token);
      const { result } = await fixture.client.authorize(hold);
      assert.deepEqual([result?.answer, result?.errorCode], [Answer.DECLINED, code]);
      await booksAgree(fixture, hold.requestId);
    });
  }

  for (const token of ['pm_nobodys', 'tok_sandbox_ok', '../customers', '']) {
    it(`is NOT_PERFORMED with token_invalid for the token "${token}"`, async () => {
      const hold = holdRequest(token);
      const { result } = await fixture.client.authorize(hold);
      assert.deepEqual([result?.answer, result?.errorCode], [Answer.NOT_PERFORMED, 'token_invalid']);
      assert.deepEqual(intentsOf(fixture, hold.requestId), []);
    });
  }

  for (const [amount, currency, code] of [
    [10_000n, 'UGX', 'amount_not_supported'],
    [10_001n, 'KWD', 'amount_not_supported'],
    [150n, 'MGA', 'amount_not_supported'],
    [10_000n, 'IQD', 'amount_not_supported'],
    [1n, 'EUR', 'amount_too_small'],
    [100_000_000n, 'EUR', 'amount_too_large'],
    [10_000n, 'AED', 'invalid_request'],
  ] as const) {
    it(`is NOT_PERFORMED with ${code} for ${amount} ${currency}`, async () => {
      const { result } = await fixture.client.authorize({ ...holdRequest(), amount, currency });
      assert.deepEqual([result?.answer, result?.errorCode], [Answer.NOT_PERFORMED, code]);
    });
  }

  it("sends amounts in Stripe's units", async () => {
    const cases = [
      [5n, 'ISK', 500],
      [500n, 'JPY', 500],
      [10_000n, 'MGA', 100],
      [5_120n, 'KWD', 5_120],
      [1_045n, 'HUF', 1_045],
    ] as const;
    for (const [amount, currency, sent] of cases) {
      const hold = { ...holdRequest(), amount, currency };
      assert.equal((await fixture.client.authorize(hold)).result?.answer, Answer.APPROVED, currency);
      assert.equal(intentOf(fixture, hold.requestId).amount, sent, currency);
    }
  });

  it('returns the same answer again, and acts once, for simultaneous calls too', async () => {
    const hold = holdRequest();
    const answers = await Promise.all(Array.from({ length: 8 }, () => fixture.client.authorize(hold)));
    const references = new Set(answers.map(({ result }) => result?.reference));
    assert.deepEqual([...references], [intentOf(fixture, hold.requestId).id]);
    const again = await fixture.client.authorize(hold);
    assert.deepEqual(again.result, answers[0]?.result);
  });

  it('rejects an identifier that was used with other fields', async () => {
    const hold = holdRequest();
    await fixture.client.authorize(hold);
    const others = [
      { amount: 9_999n },
      { currency: 'USD' },
      { merchantId: 'other' },
      { account: 'acct_shop' },
      { tokenId: 'pm_x' },
    ];
    for (const other of others) {
      const { result } = await fixture.client.authorize({ ...hold, ...other });
      assert.deepEqual([result?.answer, result?.errorCode], [Answer.NOT_PERFORMED, 'identifier_reused']);
    }
  });

  it('is NOT_PERFORMED when Stripe rejects all requests: nothing was confirmed', async () => {
    for (const on of ['GET /v1/payment_methods/…', 'POST /v1/payment_intents', 'POST /v1/payment_intents/…/confirm']) {
      fixture.stripe.fail(on, 'rate limit', 99);
      const hold = holdRequest();
      const { result } = await fixture.client.authorize(hold);
      fixture.stripe.faults.length = 0;
      assert.deepEqual([result?.answer, result?.errorCode], [Answer.NOT_PERFORMED, 'rate_limited'], on);
      await booksAgree(fixture, hold.requestId);
    }
  });

  it('waits and retries when Stripe is busy for a moment', async () => {
    fixture.stripe.fail('POST /v1/payment_intents/…/confirm', 'rate limit', 2);
    fixture.stripe.fail('POST /v1/payment_intents', 'lock timeout', 1);
    const hold = holdRequest();
    assert.equal((await fixture.client.authorize(hold)).result?.answer, Answer.APPROVED);
    await booksAgree(fixture, hold.requestId);
  });

  for (const fault of ['cut before', 'cut after', 'hang after', 'error after'] as const) {
    it(`finds the result of a confirmation: ${fault}`, async () => {
      fixture.stripe.fail('POST /v1/payment_intents/…/confirm', fault, 1);
      const hold = holdRequest();
      assert.equal((await fixture.client.authorize(hold)).result?.answer, Answer.APPROVED);
      await booksAgree(fixture, hold.requestId);
    });
  }

  it('has an unknown result when Stripe failed during a confirmation, and fences it on an inquiry', async () => {
    fixture.stripe.fail('POST /v1/payment_intents/…/confirm', 'error before', 1);
    const hold = holdRequest();
    await assert.rejects(fixture.client.authorize(hold), { code: status.UNAVAILABLE });
    assert.equal(intentOf(fixture, hold.requestId).status, 'requires_payment_method');
    const { result } = await fixture.client.inquire({ requestId: hold.requestId, fence: true });
    assert.deepEqual([result?.answer, result?.errorCode], [Answer.NOT_PERFORMED, 'never_confirmed']);
    assert.equal(intentOf(fixture, hold.requestId).status, 'canceled');
    assert.deepEqual((await fixture.client.authorize(hold)).result, result);
  });

  it('accepts no credential but its own', async () => {
    const { openChannel } = await import('../../../../platform/grpc-client.ts');
    const { credentials } = await import('@grpc/grpc-js');
    const { ProcessorService } = await import('../../../../proto/gen/holdfast/processor/v1/processor_pb.js');
    const address = `127.0.0.1:${fixture.adapter.grpcPort}`;
    const channel = openChannel({
      address,
      credentials: credentials.createInsecure(),
      token: 'x'.repeat(32),
      timeoutMs: 3_000,
    });
    await assert.rejects(channel.client(ProcessorService).authorize(holdRequest()), { code: status.UNAUTHENTICATED });
    channel.close();
  });
});
