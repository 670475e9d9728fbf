/** What the card scheme takes back of a capture while it is refunded. */
import assert from 'node:assert/strict';
import { OperationState } from '../../../../../proto/gen/holdfast/v1/payment_pb.js';
import { approved, declined, done } from '../../fake-processor.ts';
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

  it('together never exceed the capture, whichever comes first', async () => {
    const capture = await shop.captured(4_000n);
    await reversed(capture.requestId, 2_500n);
    assert.equal(await why(shop.refund(capture, 1_501n)), 'AMOUNT_EXCEEDS_CAPTURE');
    await shop.refund(capture, 1_500n);
    assert.equal(await why(shop.refund(capture)), 'AMOUNT_EXCEEDS_CAPTURE');
    assert.equal(await why(reversed(capture.requestId, 1n)), 'INVALID_REQUEST');
    assert.equal(await booksOf(capture), 'PARTIALLY_CAPTURED 4000/0/6000/0/2500 refunded 1500');
    assert.equal(await why(reversed(capture.requestId, 2_500n)), 'INVALID_REQUEST');
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

  it('lets a reversal wait for the refund that it collides with, and takes one beside it at once', async () => {
    const { capture, requestId } = await refunding();
    await reversed(capture.requestId, 1_000n);
    const { status, reason } = await refusal(reversed(capture.requestId, 1n));
    assert.deepEqual([status, reason], ['UNAVAILABLE', 'UNAVAILABLE']);
    assert.equal(await why(reversedSomewhere(capture.holdRequestId, 1n)), 'UNAVAILABLE');
    assert.equal(await why(reversed(capture.requestId, 3_001n)), 'INVALID_REQUEST');
    await scripted.settled(requestId, approved);
    assert.equal(await why(reversed(capture.requestId, 1n)), 'INVALID_REQUEST');
    assert.equal(await booksOf(capture), 'PARTIALLY_CAPTURED 4000/0/6000/0/1000 refunded 3000');
  });

  it('books the reversal when the refund fails', async () => {
    const { capture, requestId } = await refunding();
    assert.equal(await why(reversed(capture.requestId, 4_000n)), 'UNAVAILABLE');
    processor.says.inquire = ({ requestId: about }) => done(about === requestId ? declined : approved);
    await scripted.inquireLater();
    await reversed(capture.requestId, 4_000n);
    assert.equal(await booksOf(capture), 'PARTIALLY_CAPTURED 4000/0/6000/0/4000');
    assert.deepEqual(await scripted.stage.audit('own books'), []);
  });

  it('both at once are booked once, and never more than was captured', async () => {
    for (let count = 0; count < 5; count++) {
      const capture = await shop.captured(4_000n);
      const both = [shop.refund(capture, 3_000n), reversed(capture.requestId, 3_000n)];
      const [refund, reversal] = (await Promise.allSettled(both)).map(({ status }) => status);
      assert.deepEqual([refund, reversal].sort(), ['fulfilled', 'rejected']);
      const books = await booksOf(capture);
      const expected = refund === 'fulfilled' ? '0 refunded 3000' : '3000';
      assert.equal(books, `PARTIALLY_CAPTURED 4000/0/6000/0/${expected}`);
    }
    assert.deepEqual(await scripted.stage.audit('own books'), []);
  });

  it('freezes the hold when a result contradicts the first', async () => {
    const capture = await shop.captured(4_000n);
    const { refund } = await shop.refund(capture, 3_000n);
    await scripted.settled(refund?.requestId ?? '', declined);
    assert.equal(await booksOf(capture), 'PARTIALLY_CAPTURED 4000/0/6000/0/0 refunded 3000 frozen');
    assert.equal(await why(shop.refund(capture, 1n)), 'HOLD_FROZEN');
  });
});
