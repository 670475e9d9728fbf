/** Increments, extensions and refunds of holds at Stripe, through core. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { OperationState } from '../../../proto/gen/holdfast/v1/payment_pb.js';
import { forSuite } from '../../suite.ts';
import { why } from '../core/stage.ts';
import { settleRefund } from './fake/refunds.ts';
import { booksAgree, intentOf, startFixture } from './fixture.ts';
import { useCore } from './use-core.ts';

describe('the life of a hold at Stripe, through core', () => {
  const fixture = forSuite(startFixture);
  const { stage, acme, tell } = useCore(fixture, forSuite);
  const hold = (tokenId = 'pm_card_visa') => acme.hold({ tokenId });
  const refundsAt = (requestId: string) => {
    const { id } = intentOf(fixture, requestId);
    const refunds = [...fixture.stripe.account().refunds.values()];
    return refunds.filter(({ payment_intent }) => payment_intent === id).map(({ amount }) => amount);
  };
  async function captured(amount = 10_000n) {
    const { requestId, preauthorizationId } = await hold();
    const { capture = assert.fail() } = await acme.capture({ preauthorizationId }, amount);
    return { requestId, capture };
  }
  /** Lets the answers to a request get lost until core has given up waiting. */
  async function loseAnswer<Answered>(on: string, call: () => Promise<Answered>): Promise<Answered> {
    fixture.stripe.fail(on, 'hang after', 99);
    const answered = await call();
    fixture.stripe.faults.length = 0;
    return answered;
  }
  /** Inquires until the result is found: the adapter is still at work on the first call. */
  async function find(requestId = ''): Promise<void> {
    for (let tries = 0; tries < 100; tries++) {
      stage.clock.advance(10 * 60_000);
      await stage.inquire();
      const { operation } = await acme.operations.getOperation({ merchantId: 'acme', requestId });
      if (operation?.state === OperationState.OK) return;
      await delay(100);
    }
    assert.fail('no result');
  }

  afterEach(async () => {
    assert.deepEqual(await stage.audit(), []);
  });

  it('is incremented, captured in part, not incremented any more, captured, and refunded in parts', async () => {
    const placed = await hold();
    assert.equal((await acme.increment(placed, 2_500n)).preauthorization?.amount, 12_500n);
    const { capture = assert.fail() } = await acme.capture(placed, 11_000n);
    assert.equal(await why(acme.increment(placed, 100n)), 'NOT_SUPPORTED');
    assert.equal((await acme.capture(placed, 1_500n)).capture?.state, OperationState.OK);
    assert.equal(await acme.books(placed), 'CAPTURED 12500/0/0/0/0');
    assert.equal((await acme.refund(capture, 4_000n)).refund?.amount, 4_000n);
    assert.equal(await why(acme.refund(capture, 7_001n)), 'AMOUNT_EXCEEDS_CAPTURE');
    assert.equal((await acme.refund(capture)).refund?.amount, 7_000n);
    assert.equal(await why(acme.refund(capture)), 'AMOUNT_EXCEEDS_CAPTURE');
    assert.equal(await acme.books(placed), 'CAPTURED 12500/0/0/0/0 refunded 11000');
    assert.deepEqual(refundsAt(placed.requestId), [4_000, 7_000]);
    await booksAgree(fixture, placed.requestId);
  });

  it('is refused as invalid, before anything is sent, for an amount that Stripe does not take', async () => {
    await hold();
    const before = fixture.stripe.requests.length;
    for (const amount of [1n, 49n, 100_000_000n]) {
      assert.equal(await why(acme.place({ tokenId: 'pm_card_visa', amount })), 'INVALID_REQUEST');
      assert.equal(await why(acme.checkout({ amount })), 'INVALID_REQUEST');
    }
    assert.equal(fixture.stripe.requests.length, before);
    for (const amount of [50n, 99_999_999n]) await acme.hold({ tokenId: 'pm_card_visa', amount });
  });

  it('is renewed after a capture of a part, and the new one is captured by itself', async () => {
    const old = await hold();
    await acme.capture(old, 4_000n);
    const { holds } = stage.channel('gateway');
    const about = { merchantId: 'acme', requestId: old.requestId };
    const { preauthorization: renewed = assert.fail() } = await holds.renewPreauthorization(about);
    await stage.releaseRenewed();
    assert.equal(await acme.books(old), 'CAPTURED 4000/0/0/6000/0 RELEASED');
    const { requestId } = renewed;
    const captureAt = timestampFromMs(stage.clock.now() + 1_000);
    await holds.updatePreauthorization({
      merchantId: 'acme',
      requestId,
      updateMask: { paths: ['capture_at'] },
      captureAt,
    });
    stage.clock.advance(1_000);
    assert.equal(await stage.captureDue(), 1);
    assert.equal(await acme.books(renewed), 'CAPTURED 6000/0/0/0/0');
    for (const each of [old, renewed]) await booksAgree(fixture, each.requestId);
  });

  it('stays as it was when the issuer declines an increment', async () => {
    const placed = await hold();
    assert.equal(await why(acme.increment(placed, 900_000n)), 'CARD_DECLINED');
    assert.equal(await acme.books(placed), 'IN_PROGRESS 0/0/10000/0/0');
    assert.deepEqual(await acme.results(placed), ['authorized', 'declined 900000']);
  });

  it('is neither incremented where the card cannot, nor extended anywhere, and Stripe is not asked', async () => {
    const [able, plain] = [await hold(), await hold('pm_card_credit_disableEnterpriseCardFeatures')];
    const asked = fixture.stripe.requests.length;
    assert.equal(await why(acme.increment(plain, 100n)), 'NOT_SUPPORTED');
    for (const placed of [able, plain]) assert.equal(await why(acme.extend(placed)), 'NOT_SUPPORTED');
    assert.equal(fixture.stripe.requests.length, asked);
    assert.deepEqual(await acme.results(plain), ['authorized']);
  });

  it('is incremented once when the answer is lost', async () => {
    const placed = await hold();
    const on = 'POST /v1/payment_intents/…/increment_authorization';
    const { requestId, state } = await loseAnswer(on, () => acme.increment(placed, 2_500n));
    assert.equal(state, OperationState.UNKNOWN);
    assert.equal(await why(acme.extend(placed)), 'NOT_SUPPORTED');
    assert.equal(await why(acme.increment(placed, 1n)), 'CAPTURE_IN_FLIGHT');
    await find(requestId);
    assert.equal(await acme.books(placed), 'IN_PROGRESS 0/0/12500/0/0');
    await booksAgree(fixture, placed.requestId);
  });

  it('is refunded once when the answer is lost', async () => {
    const { requestId, capture } = await captured(6_000n);
    const { refund } = await loseAnswer('POST /v1/refunds', () => acme.refund(capture, 2_000n));
    assert.equal(refund?.state, OperationState.UNKNOWN);
    assert.equal(await why(acme.refund(capture, 4_001n)), 'CAPTURE_NOT_SETTLED');
    await find(refund.requestId);
    assert.equal(await acme.books({ requestId }), 'PARTIALLY_CAPTURED 6000/0/4000/0/0 refunded 2000');
    assert.deepEqual(refundsAt(requestId), [2_000]);
    assert.equal((await acme.refund(capture)).refund?.amount, 4_000n);
    await booksAgree(fixture, requestId);
  });

  it('is refunded after its capture has got a result, not before', async () => {
    const { requestId, preauthorizationId } = await hold();
    const capturing = () => acme.capture({ preauthorizationId }, 6_000n);
    const { capture = assert.fail() } = await loseAnswer('POST /v1/payment_intents/…/capture', capturing);
    assert.equal(capture.state, OperationState.UNKNOWN);
    assert.equal(await why(acme.refund(capture, 1n)), 'CAPTURE_NOT_SETTLED');
    await find(capture.requestId);
    assert.equal((await acme.refund(capture)).refund?.amount, 6_000n);
    assert.equal(await acme.books({ requestId }), 'PARTIALLY_CAPTURED 6000/0/4000/0/0 refunded 6000');
    await booksAgree(fixture, requestId);
  });

  for (const [status, state, refunded] of [
    ['succeeded', OperationState.OK, ' refunded 6000'],
    ['failed', OperationState.KO, ''],
  ] as const) {
    it(`is refunded when Stripe says so, days later: ${status}`, async () => {
      const { requestId, preauthorizationId } = await hold('pm_card_pendingRefund');
      const { capture = assert.fail() } = await acme.capture({ preauthorizationId }, 6_000n);
      const { refund = assert.fail() } = await acme.refund(capture);
      assert.equal(refund.state, OperationState.UNKNOWN);
      assert.equal(await why(acme.refund(capture)), 'CAPTURE_NOT_SETTLED');
      const [there] = [...fixture.stripe.account().refunds.values()].slice(-1);
      settleRefund(fixture.stripe.account(), there?.id ?? '', status);
      assert.equal(await tell('operationSettled'), 1);
      assert.equal((await acme.getRefund(refund.requestId)).refund?.state, state);
      assert.equal(await acme.books({ requestId }), `PARTIALLY_CAPTURED 6000/0/4000/0/0${refunded}`);
    });
  }
});
