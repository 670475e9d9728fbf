/** What the card scheme takes back of a capture while it is refunded. */
import assert from 'node:assert/strict';
import { OperationState } from '../../../../../proto/gen/holdfast/v1/payment_pb.js';
import { approved, declined } from '../../fake-processor.ts';
import { useScriptedStage } from '../../scripted-stage.ts';
import { refusal, why } from '../../stage.ts';

describe('refunds and reversals', () => {
  const { scripted, shop, processor } = useScriptedStage();
  const booksOf = ({ holdRequestId: requestId }: { holdRequestId: string }) => shop.books({ requestId });
  const reversed = (captureRequestId: string, amount: bigint) =>
    scripted.report({ case: 'captureReversed', value: { captureRequestId, amount, reference: 'rev' } });
  const reversedSomewhere = (authorizationRequestId: string, amount: bigint) =>
    scripted.report({ case: 'captureReversed', value: { authorizationRequestId, amount, reference: 'rev' } });
  const reinstated = (captureRequestId: string, amount: bigint) =>
    scripted.report({ case: 'captureReinstated', value: { captureRequestId, amount, reference: 'rei' } });
  /** A capture of 4000 with a refund of 3000 whose answer is lost. */
  const refunding = async () => {
    const capture = await shop.captured(4_000n);
    processor.says.refund = () => undefined;
    const { refund } = await shop.refund(capture, 3_000n);
    assert.equal(refund?.state, OperationState.UNKNOWN);
    return { capture, requestId: refund.requestId };
  };

  it('never refund what was reversed', async () => {
    const capture = await shop.captured(4_000n);
    await reversed(capture.requestId, 2_500n);
    assert.equal(await why(shop.refund(capture, 1_501n)), 'AMOUNT_EXCEEDS_CAPTURE');
    await shop.refund(capture, 1_500n);
    assert.equal(await why(shop.refund(capture)), 'AMOUNT_EXCEEDS_CAPTURE');
    assert.equal(await booksOf(capture), 'PARTIALLY_CAPTURED 4000/0/6000/0/2500 refunded 1500');
  });

  it('say that the card scheme took back what was refunded before', async () => {
    const capture = await shop.captured(4_000n);
    await shop.refund(capture, 3_000n);
    await reversed(capture.requestId, 2_500n);
    await reversedSomewhere(capture.holdRequestId, 1_500n);
    assert.equal(await booksOf(capture), 'PARTIALLY_CAPTURED 4000/0/6000/0/4000 refunded 3000');
    const results = (await shop.results({ requestId: capture.holdRequestId })).slice(2);
    assert.deepEqual(results, ['refunded 3000', 'reversed 2500', 'reversed 1500']);
    assert.equal(await why(shop.refund(capture, 1n)), 'AMOUNT_EXCEEDS_CAPTURE');
    assert.equal(await why(reversed(capture.requestId, 1n)), 'INVALID_REQUEST');
    assert.deepEqual(await scripted.stage.audit('own books'), []);
  });

  it('can be refunded again what was reinstated', async () => {
    const capture = await shop.captured(4_000n);
    await reversed(capture.requestId, 4_000n);
    assert.equal(await why(shop.refund(capture, 1n)), 'AMOUNT_EXCEEDS_CAPTURE');
    await reinstated(capture.requestId, 1_000n);
    assert.equal((await shop.refund(capture)).refund?.amount, 1_000n);
    await reinstated(capture.requestId, 3_000n);
    assert.equal((await shop.refund(capture)).refund?.amount, 3_000n);
    assert.equal(await booksOf(capture), 'PARTIALLY_CAPTURED 4000/0/6000/0/0 refunded 4000');
  });

  it('counts what is reversed of the hold alone for every capture of it', async () => {
    const capture = await shop.captured(4_000n);
    await reversedSomewhere(capture.holdRequestId, 3_000n);
    assert.equal(await why(shop.refund(capture, 1_001n)), 'AMOUNT_EXCEEDS_CAPTURE');
    assert.equal((await shop.refund(capture)).refund?.amount, 1_000n);
  });

  it('books a reversal at once of what a refund without a result has reserved', async () => {
    const { capture, requestId } = await refunding();
    await reversed(capture.requestId, 4_000n);
    await scripted.settled(requestId, approved);
    assert.equal(await booksOf(capture), 'PARTIALLY_CAPTURED 4000/0/6000/0/4000 refunded 3000');
    const { capture: other, requestId: failing } = await refunding();
    await reversed(other.requestId, 4_000n);
    await scripted.settled(failing, declined);
    assert.equal(await booksOf(other), 'PARTIALLY_CAPTURED 4000/0/6000/0/4000');
    assert.deepEqual(await scripted.stage.audit('own books'), []);
  });

  it('both at once are booked once', async () => {
    for (let count = 0; count < 5; count++) {
      const capture = await shop.captured(4_000n);
      const both = [shop.refund(capture, 3_000n), reversed(capture.requestId, 3_000n)];
      const [refund, reversal] = (await Promise.allSettled(both)).map(({ status }) => status);
      assert.equal(reversal, 'fulfilled');
      const books = await booksOf(capture);
      const expected = refund === 'fulfilled' ? '3000 refunded 3000' : '3000';
      assert.equal(books, `PARTIALLY_CAPTURED 4000/0/6000/0/${expected}`);
    }
    assert.deepEqual(await scripted.stage.audit('own books'), []);
  });

  it('freezes the hold when a result contradicts the first, that it failed', async () => {
    const capture = await shop.captured(4_000n);
    processor.says.refund = () => declined;
    const { metadata } = await refusal(shop.refund(capture, 3_000n));
    await scripted.settled(metadata.requestId ?? '', approved);
    assert.equal(await booksOf(capture), 'PARTIALLY_CAPTURED 4000/0/6000/0/0 frozen');
    assert.equal(await why(shop.refund(capture, 1n)), 'HOLD_FROZEN');
  });
});
