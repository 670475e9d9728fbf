import assert from 'node:assert/strict';
import { OperationState } from '../../../../../proto/gen/holdfast/v1/payment_pb.js';
import { approved, declined, notPerformed } from '../../fake-processor.ts';
import { useScriptedStage } from '../../scripted-stage.ts';
import { sql } from '../../shop.ts';
import { refusal, why } from '../../stage.ts';

describe('releasePreauthorization()', () => {
  const { scripted, shop, processor } = useScriptedStage();
  beforeEach(() => {
    processor.says.createCheckout = () => ({ checkoutUrl: 'https://pay.example/1' });
  });

  const openCheckout = async () => (await shop.checkout()).preauthorization ?? assert.fail();

  it('releases everything, and records the operation', async () => {
    const hold = await shop.hold();
    const { requestId, state } = await shop.release(hold);
    assert.equal(state, OperationState.OK);
    assert.equal(await shop.books(hold), 'RELEASED 0/0/0/10000/0 RELEASED');
    assert.deepEqual(await shop.results(hold), ['authorized', 'released 10000']);
    assert.equal(await scripted.countOf(requestId), 1);
    assert.equal(await why(shop.release(hold)), 'HOLD_RELEASED');
  });

  it('finds the hold by its preauthorizationId as well', async () => {
    const { preauthorizationId } = await shop.hold();
    const { holds } = scripted.stage.channel('gateway');
    const { state } = await holds.releasePreauthorization({ merchantId: 'acme', preauthorizationId });
    assert.equal(state, OperationState.OK);
  });

  it('rejects a captured hold', async () => {
    const hold = await shop.hold();
    await shop.capture(hold, 10_000n);
    assert.equal(await why(shop.release(hold)), 'HOLD_CAPTURED');
  });

  it('leaves the hold unchanged when the processor refuses', async () => {
    for (const [no, word] of [
      [declined, 'CARD_DECLINED'],
      [notPerformed('closed_for_today'), 'PROCESSOR_ERROR'],
    ] as const) {
      const hold = await shop.hold();
      processor.says.void = () => no;
      const key = { idempotencyKey: `release-${word}` };
      const first = await refusal(shop.release(hold, key));
      assert.equal(first.reason, word);
      assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
      assert.equal((await refusal(shop.release(hold, key))).metadata.replayed, 'true');
      await shop.capture(hold, 1n);
    }
  });

  describe('a void that released another amount than was left', () => {
    const givesBack = (amountReleased: bigint) => () => ({ ...approved, amountReleased });
    const drifts = () => scripted.stage.audit('own books');
    const isFrozen = async (hold: { requestId: string }) => (await shop.get(hold)).frozen;

    it('less: that is booked, the rest remains, and the hold is frozen', async () => {
      const hold = await shop.hold();
      await shop.capture(hold, 1_000n);
      processor.says.void = givesBack(6_000n);
      const { requestId, preauthorization } = await shop.release(hold);
      assert.deepEqual([preauthorization?.amountReleased, preauthorization?.amountRemaining], [6_000n, 3_000n]);
      assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 1000/0/3000/6000/0 frozen');
      assert.deepEqual(await shop.results(hold), ['authorized', 'captured 1000', 'released 6000']);
      const { operation } = await shop.operations.getOperation({ merchantId: 'acme', requestId });
      assert.equal(operation?.amount, 6_000n);
      assert.deepEqual(await drifts(), []);
      // What is missing may have been charged: nobody is told that it has expired.
      scripted.stage.clock.advance(8 * 24 * 3_600_000);
      processor.says.void = givesBack(0n);
      await scripted.stage.expire();
      assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 1000/0/3000/6000/0 frozen');
      assert.deepEqual((await shop.results(hold)).slice(3), []);
      assert.deepEqual(await drifts(), []);
    });

    it('more: what was left is booked, and the hold is frozen', async () => {
      const hold = await shop.hold();
      processor.says.void = givesBack(10_001n);
      await shop.release(hold);
      assert.equal(await shop.books(hold), 'RELEASED 0/0/0/10000/0 RELEASED frozen');
      assert.deepEqual(await drifts(), []);
    });

    it('is ignored where both agree, or the processor does not report it', async () => {
      for (const answer of [givesBack(10_000n), () => approved]) {
        const hold = await shop.hold();
        processor.says.void = answer;
        await shop.release(hold);
        assert.equal(await isFrozen(hold), false);
      }
    });

    it('of a checkout that the customer completed meanwhile', async () => {
      const hold = await openCheckout();
      processor.says.void = async () => {
        await scripted.settled(hold.requestId, approved);
        return givesBack(4_000n)();
      };
      await shop.release(hold);
      assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/6000/4000/0 frozen');
      assert.deepEqual(await drifts(), []);
    });
  });

  it('answers with the hold as it was right after the release, and repeats that whatever happens later', async () => {
    const hold = await shop.hold();
    const { capture: { requestId: captureRequestId } = assert.fail() } = await shop.capture(hold, 1_000n);
    const reverse = (amount: bigint) =>
      scripted.report({ case: 'captureReversed', value: { captureRequestId, amount, reference: 'r' } });
    await reverse(400n);
    processor.says.void = () => ({ ...approved, amountReleased: 6_000n });
    const key = { idempotencyKey: 'release-kept' };
    const first = await shop.release(hold, key);
    const now = await shop.get(hold);
    assert.deepEqual({ ...first.preauthorization, captures: [] }, { ...now, captures: [] });
    assert.deepEqual([now.amountReversed, now.amountRemaining, now.frozen], [400n, 3_000n, true]);
    await reverse(100n);
    await sql(scripted.stage, 'update hold set frozen = false where request_id = $1', [hold.requestId]);
    await shop.capture(hold, 3_000n);
    assert.deepEqual(await shop.release(hold, key), { ...first, replayed: true });
  });

  it('finds nothing to release after a capture with which the processor released the rest on its own', async () => {
    const hold = await shop.hold();
    processor.says.capture = () => ({ ...approved, amountReleased: 6_000n });
    const { capture } = await shop.capture(hold, 4_000n);
    assert.deepEqual([capture?.amountRemaining, capture?.amountReleased], [0n, 6_000n]);
    assert.equal(await shop.books(hold), 'CAPTURED 4000/0/0/6000/0 FINAL');
    assert.equal(await why(shop.release(hold)), 'HOLD_CAPTURED');
    assert.deepEqual(await scripted.stage.audit('own books'), []);
  });

  describe('an open checkout', () => {
    it('is cancelled, once', async () => {
      const hold = await openCheckout();
      const { state, preauthorization } = await shop.release(hold);
      assert.equal(state, OperationState.OK);
      assert.deepEqual([preauthorization?.amountInFlight, preauthorization?.amountRemaining], [0n, 0n]);
      assert.equal(await shop.books(hold), 'FAILED FAILED 0/0/0/0/0');
      assert.deepEqual(await shop.results(hold), ['failed']);
      assert.equal((await shop.get(hold)).processorError?.code, 'checkout_cancelled');
      assert.equal(await why(shop.release(hold)), 'HOLD_NOT_PLACED');
    });

    it('stays open when the processor does not cancel it, and returns the same again', async () => {
      const hold = await openCheckout();
      processor.says.void = () => notPerformed('not_now');
      const key = { idempotencyKey: 'cancel-not-now' };
      const first = await refusal(shop.release(hold, key));
      assert.equal(first.reason, 'PROCESSOR_ERROR');
      assert.equal(await shop.books(hold), 'IN_PROGRESS AWAITING_CHECKOUT 0/0/0/0/0');
      const again = await refusal(shop.release(hold, key));
      assert.deepEqual(again, { ...first, metadata: { ...first.metadata, replayed: 'true' } });
      assert.equal(await scripted.countOf(first.metadata.requestId ?? ''), 1);
      assert.deepEqual(await scripted.stage.audit('own books'), [], 'a refused release has its result in the log');
    });

    it('ends once when the customer cancels as well, whichever result arrives first', async () => {
      for (const heard of ['before the void', 'after the void'] as const) {
        const hold = await openCheckout();
        const customer = () => scripted.settled(hold.requestId, notPerformed('checkout_cancelled'));
        processor.says.void = async () => {
          if (heard === 'before the void') await customer();
          return approved;
        };
        assert.equal((await shop.release(hold)).state, OperationState.OK);
        if (heard === 'after the void') await customer();
        assert.equal(await shop.books(hold), 'FAILED FAILED 0/0/0/0/0', heard);
        assert.deepEqual(await shop.results(hold), ['failed'], heard);
        assert.equal((await shop.get(hold)).frozen, false, heard);
      }
    });

    it('is released when the customer completes it meanwhile, and cannot be captured in between', async () => {
      const hold = await openCheckout();
      let between = '';
      processor.says.void = async () => {
        await scripted.settled(hold.requestId, approved);
        between = await why(shop.capture(await shop.get(hold), 1n));
        return approved;
      };
      await shop.release(hold);
      assert.equal(between, 'CAPTURE_IN_FLIGHT');
      assert.equal(await shop.books(hold), 'RELEASED 0/0/0/10000/0 RELEASED');
      assert.deepEqual(await shop.results(hold), ['authorized', 'released 10000']);
    });

    it('can be captured when the customer completes it meanwhile and the processor did not release it', async () => {
      const hold = await openCheckout();
      processor.says.void = async () => {
        await scripted.settled(hold.requestId, approved);
        return notPerformed('too_late');
      };
      assert.equal(await why(shop.release(hold)), 'PROCESSOR_ERROR');
      await shop.capture(await shop.get(hold), 1n);
    });

    it('stays failed when the card is declined meanwhile, and the refused release is stored', async () => {
      const hold = await openCheckout();
      processor.says.void = async () => {
        await scripted.settled(hold.requestId, declined);
        return notPerformed('authorization_not_approved');
      };
      const key = { idempotencyKey: 'cancel-declined' };
      for (let times = 0; times < 2; times++) assert.equal(await why(shop.release(hold, key)), 'PROCESSOR_ERROR');
      assert.equal(await shop.books(hold), 'FAILED FAILED 0/0/0/0/0');
      assert.deepEqual((await shop.results(hold))[0], 'declined');
    });

    it('is voided when it is approved after it was cancelled', async () => {
      const hold = await openCheckout();
      await shop.release(hold);
      await scripted.settled(hold.requestId, approved);
      processor.heard.length = 0;
      await scripted.inquireLater();
      const [first, ...more] = processor.heard;
      assert.deepEqual([first?.method, first?.authorizationRequestId, more.length], ['void', hold.requestId, 0]);
    });
  });
});
