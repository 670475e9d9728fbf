import assert from 'node:assert/strict';
import { OperationState } from '../../../../../proto/gen/holdfast/v1/payment_pb.js';
import { HoldStatus } from '../../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { TEST_CARDS } from '../../../../../services/sandbox/checkout/test-card.ts';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, payAt, type Shop } from '../../shop.ts';
import { refusal, useMortalStage, why } from '../../stage.ts';

const DAY_MS = 24 * 3_600 * 1_000;

describe('capturePreauthorization()', () => {
  const { stage, crash } = useMortalStage();
  const several = forSuite(() => openMerchant(stage, 'several'));
  const sole = forSuite(() => openMerchant(stage, 'sole', { allowMultipleCaptures: false }));
  const asked = ({ requestId }: { requestId: string }) =>
    stage.oracle.entries(requestId).filter(({ kind }) => kind === 'capture');
  /** Leaves a capture reserved that never reaches the processor. */
  const strand = async (shop: Shop, hold: { preauthorizationId: string }, amount: bigint, fields: object = {}) => {
    crash.at = 'capture stored';
    assert.equal((await shop.capture(hold, amount, fields)).capture?.state, OperationState.UNKNOWN);
    assert.equal(crash.at, undefined);
  };
  const recover = async () => {
    stage.clock.advance(60_000);
    await stage.inquire();
  };

  describe('what it answers', () => {
    it('charges a part, with the hold right after it', async () => {
      const hold = await several.hold();
      const { capture, replayed } = await several.capture(hold, 4_000n);
      assert.equal(replayed, false);
      assert.equal(capture?.state, OperationState.OK);
      assert.equal(capture.holdRequestId, hold.requestId);
      assert.deepEqual([capture.amount, capture.amountCaptured], [4_000n, 4_000n]);
      assert.deepEqual([capture.amountRemaining, capture.amountReleased], [6_000n, 0n]);
      assert.equal(capture.preauthorizationStatus, HoldStatus.PARTIALLY_CAPTURED);
      assert.equal(Number(capture.captureDate?.seconds) * 1_000, stage.clock.now());
      assert.match(capture.bankReference, /^BNK/);
      assert.equal(await several.books(hold), 'PARTIALLY_CAPTURED 4000/0/6000/0/0');
    });

    it('charges with the token, merchant, terminal and user of the hold', async () => {
      const hold = await several.hold({ terminalId: 'T2', userId: 'somebody' });
      await several.capture(hold, 4_000n);
      const [{ tokenId, merchantId, terminalId, userId, currency, amount } = assert.fail()] = asked(hold);
      assert.deepEqual(
        { tokenId, merchantId, terminalId, userId, currency, amount },
        {
          tokenId: 'tok_sandbox_ok',
          merchantId: 'several',
          terminalId: 'T2',
          userId: 'somebody',
          currency: 'EUR',
          amount: 4_000,
        },
      );
    });

    it('closes the hold with the last of its amount, and nothing is released', async () => {
      const hold = await several.hold();
      const { capture: part } = await several.capture(hold, 4_000n);
      const { capture: last } = await several.capture(hold, 6_000n, { idempotencyKey: 'last' });
      assert.equal(await several.books(hold), 'CAPTURED 10000/0/0/0/0');
      const { capture: again } = await several.capture(hold, 6_000n, { idempotencyKey: 'last' });
      assert.deepEqual([part?.finalCapture, last?.finalCapture, again?.finalCapture], [false, true, true]);
    });

    it('releases the rest with a final capture, here and at the processor', async () => {
      const hold = await several.hold();
      await several.capture(hold, 4_000n);
      const { capture } = await several.capture(hold, 1_000n, { finalCapture: true });
      assert.deepEqual([capture?.amountRemaining, capture?.amountReleased], [0n, 5_000n]);
      assert.equal(await several.books(hold), 'CAPTURED 5000/0/0/5000/0 FINAL');
      const { captured, voided } = stage.oracle.find(hold.requestId) ?? assert.fail();
      assert.deepEqual([captured, voided], [5_000, 5_000]);
    });

    it('sends no capture that would leave an authorization open that can be captured only once', async () => {
      const tokenId = 'tok_sandbox_single_capture';
      const hold = await several.hold({ tokenId });
      assert.equal(await why(several.capture(hold, 4_000n, { idempotencyKey: 'single' })), 'NOT_SUPPORTED');
      assert.deepEqual(asked(hold), []);
      assert.equal(await several.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
      const { capture } = await several.capture(hold, 4_000n, { idempotencyKey: 'single', finalCapture: true });
      assert.deepEqual([capture?.amountRemaining, capture?.amountReleased], [0n, 6_000n]);
      assert.equal(await why(several.capture(hold, 1n, { finalCapture: true })), 'HOLD_CAPTURED');
      assert.equal(asked(hold).length, 1);
      const whole = await several.hold({ tokenId });
      await several.capture(whole, 10_000n);
      assert.equal(await several.books(whole), 'CAPTURED 10000/0/0/0/0');
      const bySole = await sole.hold({ tokenId });
      await sole.capture(bySole, 4_000n);
      assert.equal(await sole.books(bySole), 'CAPTURED 4000/0/0/6000/0 FINAL');
    });

    it("follows the number of captures that a checkout's authorization allows", async () => {
      const { preauthorization: page = assert.fail() } = await several.checkout();
      const { number } = TEST_CARDS.find(({ behaviour }) => behaviour === 'single_capture') ?? assert.fail();
      await payAt(page.checkoutUrl, { number });
      const hold = await several.get(page);
      assert.equal(await why(several.capture(hold, 4_000n)), 'NOT_SUPPORTED');
    });

    it('releases the rest with the sole capture of a contract that allows one', async () => {
      const hold = await sole.hold();
      await sole.capture(hold, 4_000n);
      assert.equal(await sole.books(hold), 'CAPTURED 4000/0/0/6000/0 FINAL');
      assert.equal(stage.oracle.find(hold.requestId)?.voided, 6_000);
    });

    it('applies the terms under which the hold was placed', async () => {
      const changing = await openMerchant(stage, 'changing', { allowMultipleCaptures: true });
      const hold = await changing.hold();
      const terms = { currencies: ['EUR'], terminals: ['T1'], allowMultipleCaptures: false };
      const { merchants } = stage.channel('operator');
      await merchants.updateMerchant({ merchantId: 'changing', name: 'x', contract: terms });
      await changing.capture(hold, 1n);
      assert.equal(await changing.books(hold), 'PARTIALLY_CAPTURED 1/0/9999/0/0');
    });
  });

  describe('a capture that is KO', () => {
    for (const [token, word, code] of [
      ['tok_sandbox_capture_declined', 'CARD_DECLINED', 'capture_declined'],
      ['tok_sandbox_capture_error', 'PROCESSOR_ERROR', 'capture_error'],
    ] as const) {
      it(`returns its amount to what remains: ${word}`, async () => {
        const hold = await several.hold({ tokenId: token });
        const { reason, metadata } = await refusal(several.capture(hold, 4_000n, { finalCapture: true }));
        assert.equal(reason, word);
        assert.equal(metadata.processorCode, code);
        assert.notEqual(metadata.processorMessage, '');
        assert.equal(await several.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
        const { captures } = await several.get(hold);
        assert.deepEqual(
          captures.map(({ requestId, state }) => [requestId, state]),
          [[metadata.requestId, OperationState.KO]],
        );
        assert.deepEqual(await several.results(hold), [
          'authorized',
          `${word === 'CARD_DECLINED' ? 'declined' : 'failed'} 4000`,
        ]);
      });
    }

    it('leaves a hold with one capture open for another', async () => {
      const hold = await sole.hold({ tokenId: 'tok_sandbox_capture_declined' });
      for (let times = 0; times < 2; times++) assert.equal(await why(sole.capture(hold, 1n)), 'CARD_DECLINED');
      assert.equal(await sole.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
    });

    it('releases its amount to the customer when the hold has closed meanwhile', async () => {
      const hold = await several.hold();
      await strand(several, hold, 3_000n);
      await several.capture(hold, 1_000n, { finalCapture: true });
      assert.equal(await several.books(hold), 'CAPTURED 1000/3000/0/6000/0 FINAL');
      await recover();
      assert.equal(await several.books(hold), 'CAPTURED 1000/0/0/9000/0 FINAL');
      const { captured, voided } = stage.oracle.find(hold.requestId) ?? assert.fail();
      assert.deepEqual([captured, voided], [1_000, 9_000]);
    });

    it('reopens a hold that it alone was closing', async () => {
      const hold = await several.hold();
      await several.capture(hold, 1_000n);
      await strand(several, hold, 2_000n, { finalCapture: true });
      assert.equal(await why(several.capture(hold, 1n)), 'CAPTURE_IN_FLIGHT');
      await recover();
      assert.equal(await several.books(hold), 'PARTIALLY_CAPTURED 1000/0/9000/0/0');
    });
  });

  describe('refuses, in this order,', () => {
    it('an unknown hold, and another merchant’s alike', async () => {
      const hold = await several.hold();
      const unknown = await refusal(several.capture({ preauthorizationId: 'pre_unknown' }, 10_001n));
      const foreign = await refusal(sole.capture(hold, 10_001n));
      assert.deepEqual(foreign, unknown);
      assert.equal(unknown.reason, 'PREAUTHORIZATION_NOT_FOUND');
      for (const preauthorizationId of ['\0', `pre_${'A'.repeat(33)}`, 'x'.repeat(65), 'x'.repeat(50_000)]) {
        assert.deepEqual(await refusal(several.capture({ preauthorizationId }, 1n)), unknown);
      }
    });

    it('more than the hold, in whatever state it is', async () => {
      const released = await several.hold();
      await several.release(released);
      const { preauthorization: unplaced } = await several.checkout();
      const captured = await sole.hold();
      await sole.capture(captured, 1n);
      assert.equal(await why(several.capture(released, 10_001n)), 'AMOUNT_EXCEEDS_HOLD');
      assert.equal(await why(sole.capture(captured, 10_001n)), 'AMOUNT_EXCEEDS_HOLD');
      assert.equal(unplaced?.preauthorizationId, '');
    });

    it('a hold whose period is over, though no sweep has seen it', async () => {
      const hold = await several.hold();
      await several.capture(hold, 1_000n);
      stage.clock.advance(7 * DAY_MS - 1);
      await several.capture(hold, 1_000n);
      stage.clock.advance(1);
      assert.equal(await why(several.capture(hold, 1n)), 'HOLD_EXPIRED');
      assert.equal(await why(several.release(hold)), 'HOLD_EXPIRED');
      assert.equal(await several.books(hold), 'PARTIALLY_CAPTURED 2000/0/8000/0/0');
      await stage.expire();
      assert.equal(await several.books(hold), 'CAPTURED 2000/0/0/8000/0 EXPIRED');
      assert.equal(await why(several.capture(hold, 1n)), 'HOLD_EXPIRED');
    });

    it('a released hold, captured in part before or not', async () => {
      const whole = await several.hold();
      await several.release(whole);
      assert.equal(await several.books(whole), 'RELEASED 0/0/0/10000/0 RELEASED');
      const part = await several.hold();
      await several.capture(part, 1_000n);
      await several.release(part);
      assert.equal(await several.books(part), 'CAPTURED 1000/0/0/9000/0 RELEASED');
      for (const hold of [whole, part]) assert.equal(await why(several.capture(hold, 1n)), 'HOLD_RELEASED');
    });

    it('a second capture of a contract that allows one', async () => {
      const hold = await sole.hold();
      await sole.capture(hold, 4_000n);
      assert.equal(await why(sole.capture(hold, 1n)), 'MULTIPLE_CAPTURES_NOT_ALLOWED');
    });

    it('a captured hold', async () => {
      const hold = await several.hold();
      await several.capture(hold, 4_000n, { finalCapture: true });
      assert.equal(await why(several.capture(hold, 1n)), 'HOLD_CAPTURED');
    });

    it('an amount that fits only if the captures in flight fail', async () => {
      const hold = await several.hold();
      await strand(several, hold, 4_000n);
      assert.equal(await why(several.capture(hold, 6_001n)), 'CAPTURE_IN_FLIGHT');
      assert.equal(await why(several.release(hold)), 'CAPTURE_IN_FLIGHT');
      const { capture } = await several.capture(hold, 6_000n);
      assert.equal(capture?.state, OperationState.OK);
      assert.equal(await several.books(hold), 'PARTIALLY_CAPTURED 6000/4000/0/0/0');
      await recover();
      assert.equal(await several.books(hold), 'PARTIALLY_CAPTURED 6000/0/4000/0/0');
    });

    it('any amount while the sole capture has no result', async () => {
      const hold = await sole.hold();
      await strand(sole, hold, 4_000n);
      assert.equal(await why(sole.capture(hold, 1n)), 'CAPTURE_IN_FLIGHT');
      await recover();
      await sole.capture(hold, 1n);
    });

    it('more than what remains', async () => {
      const hold = await several.hold();
      await several.capture(hold, 4_000n);
      assert.equal(await why(several.capture(hold, 6_001n)), 'AMOUNT_EXCEEDS_HOLD');
      assert.equal(asked(hold).length, 1);
    });

    it('and stores no operation for a refusal', async () => {
      const hold = await several.hold();
      await refusal(several.capture(hold, 10_001n));
      assert.deepEqual(await several.results(hold), ['authorized']);
      assert.equal((await several.get(hold)).captures.length, 0);
    });
  });
});
