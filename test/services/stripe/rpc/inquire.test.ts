import assert from 'node:assert/strict';
import { createValidator } from '@bufbuild/protovalidate';
import {
  Answer,
  DescribeResponseSchema,
  EntryKind,
  Finding,
} from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../../suite.ts';
import {
  captureRequest,
  checkoutRequest,
  holdRequest,
  incrementRequest,
  inquiryOf,
  intentsOf,
  refundRequest,
  startFixture,
  voidRequest,
} from '../fixture.ts';

const KINDS: Readonly<Record<string, EntryKind>> = {
  capture: EntryKind.CAPTURE,
  void: EntryKind.VOID,
  increment: EntryKind.INCREMENT,
  refund: EntryKind.REFUND,
  credit: EntryKind.CREDIT,
  extend: EntryKind.EXTENSION,
};

describe('inquire()', () => {
  const fixture = forSuite(startFixture);

  it('fences an identifier that was never seen: it never acts, even when its request arrives later', async () => {
    const placed = holdRequest();
    await fixture.client.authorize(placed);
    const capture = captureRequest(placed, 1_000n);
    await fixture.client.capture(capture);
    const hold = holdRequest();
    const later = {
      authorize: () => fixture.client.authorize(hold),
      capture: () => fixture.client.capture(about.capture),
      void: () => fixture.client.void(about.void),
      increment: () => fixture.client.incrementAuthorization(about.increment),
      refund: () => fixture.client.refund(about.refund),
      credit: () => fixture.client.credit(about.credit),
      extend: () => fixture.client.extendAuthorization(about.extend),
    };
    const about = {
      authorize: hold,
      capture: captureRequest(placed, 1_000n),
      void: voidRequest(placed),
      increment: incrementRequest(placed, 100n),
      refund: refundRequest(placed, capture, 100n),
      credit: { ...holdRequest() },
      extend: voidRequest(placed),
    };
    for (const [name, call] of Object.entries(later)) {
      const { requestId } = about[name as keyof typeof about];
      const asked = name === 'authorize' ? inquiryOf(hold) : inquiryOf(placed, requestId, KINDS[name]);
      const inquiry = await fixture.client.inquire(asked);
      assert.deepEqual([inquiry.finding, inquiry.fenced], [Finding.NEVER_SEEN, true], name);
      const { result } = await call();
      assert.deepEqual([result?.answer, result?.errorCode], [Answer.NOT_PERFORMED, 'fenced'], name);
      const again = await fixture.client.inquire({ requestId });
      assert.deepEqual([again.finding, again.fenced], [Finding.NEVER_SEEN, true]);
    }
    assert.deepEqual(intentsOf(fixture, hold.requestId), []);
  });

  it('does not affect an identifier without a fence', async () => {
    const hold = holdRequest();
    const { finding, fenced } = await fixture.client.inquire({ requestId: hold.requestId, fence: false });
    assert.deepEqual([finding, fenced], [Finding.NEVER_SEEN, false]);
    assert.equal((await fixture.client.authorize(hold)).result?.answer, Answer.APPROVED);
  });

  it('decides between a fence and a simultaneous request', async () => {
    for (let round = 0; round < 6; round++) {
      const hold = holdRequest();
      const ask = () => fixture.client.inquire(inquiryOf(hold));
      const [placed, inquiry] = await Promise.all([fixture.client.authorize(hold), ask()]);
      const found = inquiry.finding === Finding.AT_WORK ? await ask() : inquiry;
      const isApproved = placed.result?.answer === Answer.APPROVED;
      const isDone = found.finding === Finding.DONE && found.result?.answer === Answer.APPROVED;
      assert.equal(isDone, isApproved);
      const reserved = intentsOf(fixture, hold.requestId).filter(({ status }) => status === 'requires_capture');
      assert.equal(reserved.length, isApproved ? 1 : 0);
    }
  });

  it('returns the results of completed operations', async () => {
    const hold = holdRequest();
    const { result } = await fixture.client.authorize(hold);
    const inquiry = await fixture.client.inquire({ requestId: hold.requestId, fence: true });
    assert.deepEqual([inquiry.finding, inquiry.result], [Finding.DONE, result]);
  });
});

describe('listEntries() and describe()', () => {
  const fixture = forSuite(startFixture);

  it('lists everything in the order of first sight, page by page', async () => {
    const hold = holdRequest();
    const capture = captureRequest(hold, 1_000n);
    const release = voidRequest(hold);
    const fenced = holdRequest();
    const checkout = checkoutRequest({ account: 'acct_shop' });
    await fixture.client.authorize(hold);
    await fixture.client.capture(capture);
    await fixture.client.void(release);
    await fixture.client.inquire(inquiryOf(fenced));
    await fixture.client.createCheckout(checkout);
    const entries = [];
    for (let pageToken = ''; ; ) {
      const page = await fixture.client.listEntries({ pageSize: 2, pageToken });
      entries.push(...page.entries);
      if (page.nextPageToken === '') break;
      pageToken = page.nextPageToken;
    }
    const { AUTHORIZATION, CAPTURE, VOID, FENCE } = EntryKind;
    const { APPROVED, NOT_PERFORMED, UNSPECIFIED } = Answer;
    assert.deepEqual(
      entries.map(({ kind, requestId, answer, amount }) => [kind, requestId, answer, amount]),
      [
        [AUTHORIZATION, hold.requestId, APPROVED, 10_000n],
        [CAPTURE, capture.requestId, APPROVED, 1_000n],
        [VOID, release.requestId, APPROVED, 9_000n],
        [FENCE, fenced.requestId, NOT_PERFORMED, 0n],
        [AUTHORIZATION, checkout.requestId, UNSPECIFIED, 10_000n],
      ],
    );
    assert.equal((await fixture.entries(hold.requestId)).length, 3);
    const shop = await fixture.client.listEntries({ account: 'acct_shop' });
    assert.deepEqual(
      shop.entries.map(({ requestId }) => requestId),
      [checkout.requestId],
    );
    assert.equal((await fixture.client.listEntries({ merchantId: 'nobody' })).entries.length, 0);
    await assert.rejects(fixture.client.listEntries({ pageToken: 'x' }), /page_token/);
  });

  it('lists operations in progress as not ended', async () => {
    const hold = holdRequest();
    fixture.stripe.fail('POST /v1/payment_intents/…/confirm', 'error before', 1);
    await assert.rejects(fixture.client.authorize(hold));
    assert.deepEqual(
      (await fixture.entries(hold.requestId)).map(({ answer }) => answer),
      [Answer.ACCEPTED],
    );
    await fixture.client.inquire({ requestId: hold.requestId, fence: true });
    assert.deepEqual(
      (await fixture.entries(hold.requestId)).map(({ answer }) => answer),
      [Answer.NOT_PERFORMED],
    );
  });

  it('describes the features of Stripe', async () => {
    const stripe = await fixture.client.describe({});
    assert.deepEqual(createValidator().validate(DescribeResponseSchema, stripe).violations, undefined);
    await fixture.restart();
    assert.deepEqual(await fixture.client.describe({}), stripe);
    assert.equal(stripe.name, 'stripe');
    assert.deepEqual(
      [stripe.tokens, stripe.checkouts, stripe.savedCards, stripe.credits, stripe.fences],
      [true, true, true, false, true],
    );
    assert.equal(stripe.authorizations?.extension, false);
    assert.equal(stripe.checkoutShortest?.seconds, 1_800n);
    const bounds = new Map(stripe.currencies.map(({ currency, smallestAmount }) => [currency, smallestAmount]));
    assert.deepEqual(
      [bounds.get('EUR'), bounds.get('KWD'), bounds.get('MGA'), bounds.get('UGX')],
      [50n, 10n, 100n, undefined],
    );
  });
});
